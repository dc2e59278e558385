// Axes: from data to a unit interval and back, ticks and their texts. Linear, log and symlog; wall time has a file of its
// own. The text of a tick has as many digits as tell it from its neighbours.
import { count, duration } from '../../base/numbers/format';
import { timeTicks } from './time';

export type ScaleKind = 'linear' | 'log' | 'symlog';
export type Range = [number, number];

/** f maps data to a line on which the picture is linear; back is its inverse. */
export interface Projection {
  kind: ScaleKind;
  near: number; // of symlog: where it turns from linear to log
  f(v: number): number;
  back(u: number): number;
}

const LINEAR: Projection = { kind: 'linear', near: 0, f: (v) => v, back: (u) => u };
const LOG: Projection = { kind: 'log', near: 0, f: Math.log10, back: (u) => 10 ** u };
const symlogs = new Map<number, Projection>();

/** Linear below about `near`, logarithmic above it, on both sides of zero. */
export function symlog(near: number): Projection {
  let made = symlogs.get(near);
  if (!made) {
    made = {
      kind: 'symlog',
      near,
      f: (v) => Math.sign(v) * Math.log1p(Math.abs(v) / near),
      back: (u) => Math.sign(u) * Math.expm1(Math.abs(u)) * near,
    };
    symlogs.set(near, made);
  }
  return made;
}

const SYMLOG_DECADES = 3;

/** The projection of a kind for data of this extent: symlog is linear below a thousandth of the greatest power of ten. */
export function projectionOf(kind: ScaleKind, extent: Range | null): Projection {
  if (kind === 'linear') return LINEAR;
  if (kind === 'log') return LOG;
  const most = extent ? Math.max(Math.abs(extent[0]), Math.abs(extent[1])) : 0;
  return symlog(10 ** ((most > 0 && Number.isFinite(most) ? Math.floor(Math.log10(most)) : 0) - SYMLOG_DECADES));
}

export interface Axis {
  projection: Projection;
  domain: Range;
  /** pixel = a * f(v) + b */
  a: number;
  b: number;
  most?: number; // labels that it should have: none where nothing is known of its range
}

export function makeAxis(projection: Projection, domain: Range, from: number, to: number): Axis {
  const u0 = projection.f(domain[0]);
  const u1 = projection.f(domain[1]);
  const length = u1 - u0 || 1;
  // the length of the domain is more than the greatest double: computed by halves
  const a = Number.isFinite(length) ? (to - from) / length : (to - from) / 2 / (u1 / 2 - u0 / 2);
  return { projection, domain, a, b: from - a * u0 };
}

export const toPixel = (axis: Axis, v: number): number => axis.a * axis.projection.f(v) + axis.b;
export const toValue = (axis: Axis, pixel: number): number => axis.projection.back((pixel - axis.b) / axis.a);

const INVISIBLE = 1 / 20; // of a pixel: a shift that nobody can see

/** The value at a pixel, rounded to as few digits as stay on that pixel: values that were chosen by pointing are written into links. */
export function roundAt(axis: Axis, pixel: number): number {
  const v = toValue(axis, pixel);
  for (let digits = 2; digits < 17; digits++) {
    const rounded = Number(v.toPrecision(digits));
    if (Math.abs(toPixel(axis, rounded) - pixel) < INVISIBLE) return rounded;
  }
  return v;
}

export interface Tick {
  v: number;
  text: string;
}

const RELATIVE_STEPS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
  10800, 21600, 43200, 86400, 172800, 432000, 864000, 2592000,
];

function relativeTicks([from, to]: Range, n: number): Tick[] {
  const step = RELATIVE_STEPS.find((s) => (to - from) / s <= n) ?? (to - from) / n;
  const values = multiples(step, [from, to]).map((i) => i * step);
  return toldApart(values, (v) => (v === 0 ? '0' : duration(v)), [from, to]);
}

const NEAR = 1e-6; // of a step: an end that is a tick but for its last digit has its tick

/** Round numbers between two ends, about n of them: 1, 2 or 5 times a power of ten apart. */
export function evenTicks([from, to]: Range, n: number): number[] {
  const rough = Number.isFinite(to - from) ? (to - from) / n : to / n - from / n;
  if (!(rough > 0) || !Number.isFinite(rough)) return from === to ? [from] : [];
  const power = Math.floor(Math.log10(rough));
  const share = rough / 10 ** power;
  const factor = share < Math.SQRT2 ? 1 : share < Math.sqrt(10) ? 2 : share < Math.sqrt(50) ? 5 : 10;
  // divided by a whole power of ten rather than multiplied by a fraction: 0.3, not 0.30000000000000004
  const at = (k: number) => (power < 0 ? (k * factor) / 10 ** -power : k * factor * 10 ** power);
  const step = at(1);
  if (!(step > 0)) return [];
  return multiples(step, [from, to]).map(at);
}

/** Which multiples of a step are within a range. None where neighbours are beyond the digits that a number has. */
function multiples(step: number, [from, to]: Range): number[] {
  const first = Math.ceil(from / step - NEAR) + 0; // no -0
  const last = Math.floor(to / step + NEAR);
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(last)) return [];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
}

/** 1.5e-4, 2e15; with so many digits after the point, less those that are zero. */
const exponentText = (v: number, digits: number) =>
  v
    .toExponential(Math.min(Math.max(digits, 0), 16))
    .replace(/(\.\d*?)0+e/, '$1e')
    .replace('.e', 'e')
    .replace('+', '');

const powerOf = (v: number) => Math.floor(Math.log10(Math.abs(v)) + 1e-9);
const LONGEST = 9; // characters that an axis has room for, before an exponent is shorter
const digitsAfterPoint = (step: number) => Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));

/** Texts with as many digits as tell each tick from its neighbour. */
function numberText(ticks: number[], domain: Range): (v: number) => string {
  const size = Math.max(Math.abs(domain[0]), Math.abs(domain[1]));
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 0;
  const mantissa = (v: number) => (step > 0 ? powerOf(v) - powerOf(step) : 2);
  const exponent = (v: number) => (v === 0 ? '0' : exponentText(v, mantissa(v)));
  if (size > 0 && (size < 1e-3 || size >= 1e15)) return exponent;
  if (size >= 1000 && size < 1e6 && step >= 1 && step < 1000) return count;
  if (size >= 1000 && (step === 0 || step >= 1)) {
    const [by, unit] = size >= 1e12 ? [1e12, 'T'] : size >= 1e9 ? [1e9, 'B'] : size >= 1e6 ? [1e6, 'M'] : [1e3, 'k'];
    const digits = step > 0 ? digitsAfterPoint(step / by) : 3;
    return (v) => (v === 0 ? '0' : `${(v / by).toFixed(Math.min(digits, 100))}${unit}`);
  }
  const digits = step > 0 ? digitsAfterPoint(step) : 3;
  const isLong = digits + String(Math.trunc(size)).length + 1 > LONGEST && size < 0.1;
  return isLong ? exponent : (v) => v.toFixed(Math.min(digits, 20));
}

/** Where a share of one is wanted in percent, even hundredths. */
function percentTicks({ domain, projection }: Axis, n: number): Tick[] {
  const hundred: Range = [domain[0] * 100, domain[1] * 100];
  const values =
    projection.kind === 'linear' ? evenTicks(hundred, n) : decadeTicks(domain, projection, n).map((v) => v * 100);
  const text = projection.kind === 'linear' ? numberText(values, hundred) : powerText;
  return toldApart(values, text, hundred).map((tick) => ({ v: tick.v / 100, text: `${tick.text}\u202f%` }));
}

/** What the numbers of an axis are: `whole` for steps, which have no halves. */
export type AxisWhat = 'number' | 'whole' | 'percent' | 'relative' | 'wall';

/** One minus sign on the whole page: that of numbers elsewhere. */
export const ticksOf = (axis: Axis, count: number, what: AxisWhat, language = 'en'): Tick[] =>
  plainTicks(axis, count, what, language).map(({ v, text }) => ({ v, text: text.replace(/^-|(?<=e)-/g, '−') }));

function plainTicks(axis: Axis, about: number, what: AxisWhat, language: string): Tick[] {
  const { domain, projection } = axis;
  const n = Math.max(2, about);
  if (what === 'percent') return percentTicks(axis, n);
  if (what === 'wall') return timeTicks(domain, n, language);
  if (what === 'relative' && projection.kind === 'linear') return relativeTicks(domain, n);
  if (projection.kind === 'linear') {
    const even = evenTicks(domain, n);
    const ticks = what === 'whole' ? even.filter(Number.isInteger) : even;
    // one step alone has no neighbour to be told from
    const text = what === 'whole' && ticks.length === 1 ? count : numberText(ticks, domain);
    return ticks.map((v) => ({ v, text: text(v) }));
  }
  const values = decadeTicks(domain, projection, n);
  const text = what === 'relative' ? (v: number) => (v === 0 ? '0' : duration(v)) : powerText;
  return toldApart(values, text, domain);
}

/** With this text where it tells all of them apart, else with as many digits as do. */
function toldApart(values: number[], text: (v: number) => string, domain: Range): Tick[] {
  const texts = values.map(text);
  if (new Set(texts).size < texts.length) return values.map((v) => ({ v, text: numberText(values, domain)(v) }));
  return values.map((v, i) => ({ v, text: texts[i] }));
}

const powerText = (v: number) =>
  Math.abs(v) >= 1e4 || (v !== 0 && Math.abs(v) < 1e-3)
    ? v.toExponential(1).replace('.0e', 'e').replace('+', '')
    : String(Number(v.toPrecision(4)));

/** Powers of ten on both sides of zero, with 2 and 5 between them where there is room; even ones where there are none. */
function decadeTicks(domain: Range, projection: Projection, n: number): number[] {
  const [from, to] = domain;
  const length = projection.f(to) - projection.f(from);
  const least = projection.kind === 'log' ? Math.max(from, Number.MIN_VALUE) : projection.near;
  const first = Math.floor(Math.log10(least));
  const last = Math.ceil(Math.log10(Math.max(Math.abs(from), Math.abs(to), least)));
  const decades = length / (projection.kind === 'log' ? 1 : Math.LN10);
  const stride = Math.max(1, Math.ceil((decades / n) * 0.8));
  const between = projection.kind === 'log' && decades <= n ? [1, 2, 5] : [1];
  const powers: number[] = projection.kind === 'symlog' && from <= 0 && to >= 0 ? [0] : [];
  const others: number[] = [];
  for (let k = last; k >= first; k--) {
    if ((last - k) % stride !== 0) continue;
    for (const m of between)
      for (const sign of projection.kind === 'log' ? [1] : [-1, 1]) {
        const v = sign * Number(`${m}e${k}`);
        if (v >= from && v <= to) (m === 1 ? powers : others).push(v);
      }
  }
  const kept: number[] = [];
  for (const v of [...powers, ...others]) {
    const u = projection.f(v);
    if (kept.every((other) => Math.abs(projection.f(other) - u) > (length / n) * 0.55)) kept.push(v);
  }
  if (kept.length >= 2) return kept.sort((a, b) => a - b);
  return evenTicks(domain, n);
}

/** A little room around the data; a single value gets a window of its own. */
export function padded([low, high]: Range, p: Projection, by = 0.05): Range {
  if (!(low <= high)) return p.kind === 'log' ? [0.1, 1] : [0, 1];
  if (low === high) {
    if (p.kind === 'log') return [low / 2, high * 2];
    const room = low === 0 ? 1 : Math.abs(low) * 0.5;
    return [low - room, high + room];
  }
  const u0 = p.f(low);
  const u1 = p.f(high);
  const room = (u1 - u0) * by;
  return [p.back(u0 - room), p.back(u1 + room)];
}
