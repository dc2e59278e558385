// Converts the server's columns to what is drawn: x values for the chosen axis, the envelope of a decimated line, and the
// viewer's smoothing as a parameter of the request. Pure functions.
import type { Series, Smoothing, X } from '../../public';

export const EMPTY = new Float64Array(0);
const LEAST = 2;
const GREATEST = 4;

export function smoothingAsk(kind: Smoothing['kind'], weight: number): Smoothing {
  if (weight <= 0) return { kind: 'none' };
  if (kind === 'ema' || kind === 'time_ema') return { kind, weight };
  // the number of points that an exponential moving average of this weight effectively includes
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

/** The start indices of the parts of a line: 0, and every index where a value is less than the one before. */
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

/**
 * The least and the greatest raw value for each pixel. The server marks one of each per pixel of a decimated line, in the
 * order of the line.
 */
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
