// Lines as the chart has them: columns, no objects per point. Extents, nearest points, and the path of one line; all of
// it plain functions over typed arrays, so that tests need no browser.
import { partitionPoint } from '../../base/search';
import { nearest } from './near';
import type { Axis, Range, ScaleKind } from './scale';

/** Around the line of a group. */
interface Area {
  low: Float64Array;
  high: Float64Array;
  count: Float64Array;
  inner: Float64Array; // least, then greatest values of the members that are not far from the rest; empty: not known
}

export interface Line {
  key: string;
  name: string;
  colour: string;
  x: Float64Array;
  y: Float64Array; // what is drawn: smoothed when that is on
  raw: Float64Array | null; // drawn faintly behind it
  step: Float64Array | null;
  wall: Float64Array | null;
  firstWall: number;
  live: boolean; // a dot at its end
  tag?: string; // where a chart has several
  group?: string; // where lines of one group have one colour
  dash?: number[];
  right?: boolean; // on the second y axis
  strokes?: number[]; // where each stroke begins, when x falls between them
  free?: boolean; // x is not sorted: drawn as one stroke, and the nearest point is the nearest in x and y
  faint?: boolean; // thin and light, behind the others
  envelope?: { x: Float64Array; low: Float64Array; high: Float64Array } | null; // in place of the raw line
  band?: Area | null;
}

/** The part of a path API that a line needs. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

/** First index with x[i] >= v, for rising x. */
export function lowerBound(x: Float64Array, v: number): number {
  return partitionPoint(0, x.length, (i) => x[i] < v);
}

/** Index of the point nearest to v; -1 for no points. */
export function nearestIndex(x: Float64Array, v: number): number {
  if (x.length === 0) return -1;
  const i = lowerBound(x, v);
  if (i === 0) return 0;
  if (i === x.length) return i - 1;
  return v - x[i - 1] <= x[i] - v ? i - 1 : i;
}

export function xExtent(lines: readonly Line[], kind: ScaleKind): Range | null {
  let low = Infinity;
  let high = -Infinity;
  for (const line of lines) {
    for (let i = 0, x = line.x; i < x.length; i++) {
      const v = x[i];
      if (v > high) high = v;
      if (v < low && (kind !== 'log' || v > 0)) low = v;
    }
  }
  return low <= high ? [low, high] : null;
}

const SAMPLES = 4000; // enough for percentiles; sorting more would cost a frame
const FEW_SAMPLES = 20; // of so few points none is an outlier

interface Column {
  x: Float64Array;
  y: Float64Array;
  isCentre?: boolean; // of a band
  isUnseen?: boolean; // not drawn: used only to decide what is an outlier
  isUntold?: boolean; // drawn, but not used to decide what is an outlier
}

/** The columns of a line that are seen: the line, the raw one behind it, the edges of its area. Edges and mean of a band
 * may be those of a single run that diverged, so the values of its other members decide what is an outlier. */
function columnsOf({ x, y, raw, envelope, band }: Line): Column[] {
  if (band) {
    const { low, high, inner } = band;
    const columns: Column[] = [
      { x, y, isCentre: true },
      { x, y: low },
      { x, y: high },
    ];
    if (inner.length === 0) return columns;
    const told = [inner.subarray(0, x.length), inner.subarray(x.length)].map((v) => ({ x, y: v, isUnseen: true }));
    return [...columns.map((column) => ({ ...column, isUntold: true })), ...told];
  }
  if (envelope)
    return [
      { x, y },
      { x: envelope.x, y: envelope.low },
      { x: envelope.x, y: envelope.high },
    ];
  return raw
    ? [
        { x, y },
        { x, y: raw },
      ]
    : [{ x, y }];
}

/** Range of finite y, of all that is drawn within the x range; with outliers left out, that of the 5th to the 95th
 * percentile and as much again on both sides. The centre line of a band is never left out. */
export function yExtent(
  lines: readonly Line[],
  within: Range | null,
  ignoreOutliers: boolean,
  kind: ScaleKind,
): Range | null {
  let low = Infinity;
  let high = -Infinity;
  let centreLow = Infinity;
  let centreHigh = -Infinity;
  const columns = lines.flatMap(columnsOf);
  let total = 0;
  for (const { x, isUntold } of columns) if (!isUntold) total += x.length;
  const stride = Math.max(1, Math.ceil(total / SAMPLES));
  const samples = new Float64Array(Math.ceil(total / stride));
  let taken = 0;
  let at = 0;
  for (const { x, y, isCentre, isUnseen, isUntold } of columns) {
    for (let i = 0; i < x.length; i++) {
      const v = y[i];
      if (v - v !== 0 || (kind === 'log' && v <= 0)) continue;
      if (within && (x[i] < within[0] || x[i] > within[1])) continue;
      if (!isUnseen && v > high) high = v;
      if (!isUnseen && v < low) low = v;
      if (isCentre && v > centreHigh) centreHigh = v;
      if (isCentre && v < centreLow) centreLow = v;
      if (!isUntold && at++ % stride === 0) samples[taken++] = v;
    }
  }
  if (!(low <= high)) return null;
  if (!ignoreOutliers || taken < FEW_SAMPLES) return [low, high];
  const sorted = samples.subarray(0, taken).sort();
  const p5 = sorted[Math.floor((sorted.length - 1) * 0.05)];
  const p95 = sorted[Math.ceil((sorted.length - 1) * 0.95)];
  // only what is far off counts as an outlier: within a spread beyond the percentiles all is shown
  const room = p95 - p5;
  return [Math.min(centreLow, Math.max(low, p5 - room)), Math.max(centreHigh, Math.min(high, p95 + room))];
}

/** Draws y over x. Breaks at values that are not finite (or not positive on a log axis) and, unless it is free to, where
 * x falls. */
export function trace(pen: Pen, { x, free }: Pick<Line, 'x' | 'free'>, y: Float64Array, ax: Axis, ay: Axis): void {
  const n = Math.min(x.length, y.length);
  let open = false;
  let last = -Infinity;
  if (ax.projection.kind === 'linear' && ay.projection.kind === 'linear') {
    const { a, b } = ax;
    const c = ay.a;
    const d = ay.b;
    for (let i = 0; i < n; i++) {
      const v = y[i];
      const u = x[i];
      if (v - v !== 0) {
        open = false;
        continue;
      }
      if (open && u >= last) pen.lineTo(a * u + b, c * v + d);
      else pen.moveTo(a * u + b, c * v + d);
      open = true;
      if (!free) last = u;
    }
    return;
  }
  const fx = ax.projection.f;
  const fy = ay.projection.f;
  for (let i = 0; i < n; i++) {
    const px = ax.a * fx(x[i]) + ax.b;
    const py = ay.a * fy(y[i]) + ay.b;
    if (!Number.isFinite(px) || !Number.isFinite(py)) {
      open = false;
      continue;
    }
    if (open && x[i] >= last) pen.lineTo(px, py);
    else pen.moveTo(px, py);
    open = true;
    if (!free) last = x[i];
  }
}

/** Where values are not numbers: x of each, and the last finite y before it, for a mark. */
export function badPoints(line: Line): { x: number; y: number; v: number }[] {
  const values = line.raw ?? line.y;
  const found: { x: number; y: number; v: number }[] = [];
  let last = NaN;
  for (let i = 0; i < values.length; i++) {
    if (Number.isFinite(values[i])) last = values[i];
    else found.push({ x: line.x[i], y: last, v: values[i] });
  }
  for (const bad of found) if (Number.isNaN(bad.y)) bad.y = values.find(Number.isFinite) ?? 0;
  return found;
}

/** The same for x that rises within each stroke only. */
function nearestInStrokes(x: Float64Array, strokes: readonly number[], v: number): number {
  let best = -1;
  strokes.forEach((from, k) => {
    const found = nearestIndex(x.subarray(from, strokes[k + 1] ?? x.length), v);
    if (found >= 0 && (best < 0 || Math.abs(x[from + found] - v) <= Math.abs(x[best] - v))) best = from + found;
  });
  return best;
}

/** Finite points with nothing to be joined to on either side: a stroke would not show them. */
export function lonePoints(line: Line): number[] {
  const { y } = line;
  const found: number[] = [];
  for (let i = 0; i < y.length; i++)
    if (Number.isFinite(y[i]) && !Number.isFinite(y[i - 1]) && !Number.isFinite(y[i + 1])) found.push(i);
  return found;
}

export interface Hit {
  line: Line;
  index: number;
  px: number;
  py: number;
  distance: number; // pixels to the pointer
  outside: boolean; // the line ended before, or begins after, the pointer
}

/** The lines that were looked at last, as columns that are used again at every move of the pointer. */
const seen = { index: new Int32Array(0), px: new Float64Array(0), py: new Float64Array(0), far: new Float64Array(0) };
const OUTSIDE = 1e12; // pixels: those that are not where the pointer is come last

function room(n: number): void {
  if (seen.far.length >= n) return;
  const size = Math.max(64, 2 * n);
  seen.index = new Int32Array(size);
  seen.px = new Float64Array(size);
  seen.py = new Float64Array(size);
  seen.far = new Float64Array(size);
}

/** The `most` least of the first n, in order: what is not among them is never sorted. */
export function leastOf(values: Float64Array, n: number, most: number): number[] {
  const kept: number[] = [];
  if (most >= n) {
    for (let i = 0; i < n; i++) if (values[i] < Infinity) kept.push(i);
    return kept.sort((a, b) => values[a] - values[b]);
  }
  for (let i = 0; i < n; i++) {
    const v = values[i];
    if (!(v < (kept.length < most ? Infinity : values[kept[most - 1]]))) continue;
    let at = kept.length < most ? kept.push(i) - 1 : most - 1;
    for (; at > 0 && values[kept[at - 1]] > v; at--) kept[at] = kept[at - 1];
    kept[at] = i;
  }
  return kept;
}

/** The nearest point of every line to x, or to the pointer where x goes anywhere; nearest to the pointer first, those
 * that are not there last. Of very many lines only the `most` nearest: the rest costs no memory and no order. */
export function hits(
  lines: readonly Line[],
  x: number,
  pointer: { px: number; py: number } | null,
  ax: Axis,
  left: Axis,
  right = left,
  most = Infinity,
): Hit[] {
  if (lines[0]?.free && pointer)
    return nearest(lines, pointer, { ax, left, right })
      .slice(0, most)
      .map((near) => ({ ...near, line: lines[near.line], outside: false }));
  room(lines.length);
  const { index, px, py, far } = seen;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i];
    const at = line.strokes ? nearestInStrokes(line.x, line.strokes, x) : nearestIndex(line.x, x);
    index[i] = at;
    far[i] = Infinity;
    if (at < 0) continue;
    const ay = line.right ? right : left;
    px[i] = ax.a * ax.projection.f(line.x[at]) + ax.b;
    const height = ay.a * ay.projection.f(line.y[at]) + ay.b;
    py[i] = Number.isFinite(height) ? height : NaN;
    const dx = pointer ? px[i] - pointer.px : 0;
    const dy = pointer && !Number.isNaN(py[i]) ? py[i] - pointer.py : 0;
    const isOutside = !line.strokes && (x < line.x[0] || x > line.x[line.x.length - 1]);
    far[i] = Math.hypot(isOutside ? dx : dx * 0.25, dy) + (Number.isNaN(py[i]) ? 1e6 : 0) + (isOutside ? OUTSIDE : 0);
  }
  return leastOf(far, lines.length, most).map((i) => {
    const outside = far[i] >= OUTSIDE;
    return {
      line: lines[i],
      index: index[i],
      px: px[i],
      py: py[i],
      distance: far[i] - (outside ? OUTSIDE : 0),
      outside,
    };
  });
}
