// Axes: from data to a unit interval and back, ticks and their texts. Linear, log and symlog; times for wall x. Ticks
// come from d3-scale, so that they are where people expect them.
import { scaleLinear, scaleLog, scaleSymlog, scaleTime } from 'd3-scale';
import { count, duration } from '../../base/format';

export type ScaleKind = 'linear' | 'log' | 'symlog';
export type Range = [number, number];

/** f maps data to a line on which the picture is linear; back is its inverse. */
export interface Projection {
  kind: ScaleKind;
  f(v: number): number;
  back(u: number): number;
}

const symlog = (v: number) => Math.sign(v) * Math.log1p(Math.abs(v));
export const PROJECTIONS: Record<ScaleKind, Projection> = {
  linear: { kind: 'linear', f: (v) => v, back: (u) => u },
  log: { kind: 'log', f: Math.log10, back: (u) => 10 ** u },
  symlog: { kind: 'symlog', f: symlog, back: (u) => Math.sign(u) * Math.expm1(Math.abs(u)) },
};

export interface Axis {
  projection: Projection;
  domain: Range;
  /** pixel = a * f(v) + b */
  a: number;
  b: number;
}

export function makeAxis(kind: ScaleKind, domain: Range, from: number, to: number): Axis {
  const projection = PROJECTIONS[kind];
  const u0 = projection.f(domain[0]);
  const u1 = projection.f(domain[1]);
  const a = (to - from) / (u1 - u0 || 1);
  return { projection, domain, a, b: from - a * u0 };
}

export const toPixel = (axis: Axis, v: number): number => axis.a * axis.projection.f(v) + axis.b;
export const toValue = (axis: Axis, pixel: number): number => axis.projection.back((pixel - axis.b) / axis.a);

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
  const ticks: Tick[] = [];
  for (let i = Math.ceil(from / step); i * step <= to; i++) ticks.push({ v: i * step, text: i === 0 ? '0' : duration(i * step) });
  return ticks;
}

const shorten = (text: string) => text.replace('−', '-').replace(/(\.\d*?)0+(?=\D*$)/, '$1').replace(/\.(?=\D*$)/, '');

function numberText(ticks: number[], domain: Range): (v: number) => string {
  const size = Math.max(Math.abs(domain[0]), Math.abs(domain[1]));
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : 0;
  if (size > 0 && (size < 1e-3 || (step > 0 && step < 1e-5))) return (v) => (v === 0 ? '0' : shorten(v.toExponential(2)).replace(/0+e/, 'e'));
  if (size >= 1000 && size < 1e6 && step >= 1 && step < 1000) return count;
  if (size >= 1000 && (step === 0 || step >= 1)) {
    const [by, unit] = size >= 1e9 ? [1e9, 'B'] : size >= 1e6 ? [1e6, 'M'] : [1e3, 'k'];
    const digits = step > 0 ? Math.max(0, Math.ceil(-Math.log10(step / by) - 1e-9)) : 3;
    return (v) => (v === 0 ? '0' : `${(v / by).toFixed(digits)}${unit}`);
  }
  const digits = step > 0 ? Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)) : 3;
  return (v) => v.toFixed(Math.min(digits, 8));
}

export function ticksOf(axis: Axis, count: number, what: 'number' | 'relative' | 'wall'): Tick[] {
  const { domain, projection } = axis;
  const n = Math.max(2, count);
  if (what === 'wall') {
    const scale = scaleTime([domain[0] * 1000, domain[1] * 1000], [0, 1]);
    const text = scale.tickFormat(n);
    return scale.ticks(n).map((d) => ({ v: d.getTime() / 1000, text: text(d) }));
  }
  if (what === 'relative' && projection.kind === 'linear') return relativeTicks(domain, n);
  if (projection.kind === 'linear') {
    const ticks = scaleLinear(domain, [0, 1]).ticks(n);
    const text = numberText(ticks, domain);
    return ticks.map((v) => ({ v, text: text(v) }));
  }
  const scale = projection.kind === 'log' ? scaleLog(domain, [0, 1]) : scaleSymlog(domain, [0, 1]);
  const text = (v: number) => (Math.abs(v) >= 1e4 || (v !== 0 && Math.abs(v) < 1e-3) ? shorten(v.toExponential(1)).replace('+', '') : String(Number(v.toPrecision(4))));
  let values = scale.ticks(n);
  if (projection.kind === 'log' && values.length > n * 2) values = values.filter((v) => Math.abs(Math.log10(v) % 1) < 1e-9);
  return values.map((v) => ({ v, text: text(v) }));
}

/** A little room around the data; a single value gets a window of its own. */
export function padded([low, high]: Range, kind: ScaleKind, by = 0.05): Range {
  const p = PROJECTIONS[kind];
  if (!(low <= high)) return kind === 'log' ? [0.1, 1] : [0, 1];
  if (low === high) {
    if (kind === 'log') return [low / 2, high * 2];
    const room = low === 0 ? 1 : Math.abs(low) * 0.5;
    return [low - room, high + room];
  }
  const u0 = p.f(low);
  const u1 = p.f(high);
  const room = (u1 - u0) * by;
  return [p.back(u0 - room), p.back(u1 + room)];
}
