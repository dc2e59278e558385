// From what the server sent to what is drawn: x of a chosen axis, the envelope of a decimated line, the smoothing a
// person chose as the server wants it. Pure functions over columns.
import type { Series, Smoothing, X } from '../../public';

export const EMPTY = new Float64Array(0);
const LEAST = 2;
const GREATEST = 4;

export function smoothingAsk(kind: Smoothing['kind'], weight: number): Smoothing {
  if (weight <= 0) return { kind: 'none' };
  if (kind === 'ema' || kind === 'time_ema') return { kind, weight };
  // as many points as an average of that weight looks back on
  return { kind, points: Math.max(1, Math.round(2 / (1 - weight)) - 1) };
}

export function xOf(x: X, data: Series): Float64Array {
  if (x.startsWith('tag:')) return data.x ?? EMPTY;
  if (x === 'step') return data.step ?? EMPTY;
  if (x === 'step_relative') return data.step?.map((step) => step - data.firstStep) ?? EMPTY;
  if (!data.wall) return EMPTY;
  if (x === 'wall') return data.wall;
  const first = data.firstWall;
  return data.wall.map((w) => w - first);
}

/** Where each stroke begins: at the start, and where a value is less than the one before. */
export function strokesOf(column: Float64Array): number[] {
  const starts = [0];
  for (let i = 1; i < column.length; i++) if (column[i] < column[i - 1]) starts.push(i);
  return starts;
}

export interface Envelope {
  x: Float64Array;
  low: Float64Array;
  high: Float64Array;
}

/** Least and greatest raw value of each pixel. Every pixel of a decimated line has one of each, in the line's order. */
export function envelopeOf(x: Float64Array, value: Float64Array | null, flags: Uint8Array | null): Envelope | null {
  if (!value || !flags) return null;
  const least: number[] = [];
  const greatest: number[] = [];
  for (let i = 0; i < flags.length; i++) {
    if (flags[i] & LEAST) least.push(i);
    if (flags[i] & GREATEST) greatest.push(i);
  }
  const n = Math.min(least.length, greatest.length);
  if (n < 2) return null;
  const out = { x: new Float64Array(n), low: new Float64Array(n), high: new Float64Array(n) };
  for (let i = 0; i < n; i++) {
    out.x[i] = Math.min(x[least[i]], x[greatest[i]]);
    out.low[i] = value[least[i]];
    out.high[i] = value[greatest[i]];
  }
  return out;
}
