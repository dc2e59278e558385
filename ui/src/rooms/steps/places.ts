// A position on the x axis as people read and type it, for each kind of axis.
import { format, parse, t, type X } from '../../public';

/** The short text on a handle. */
export function placeText(x: X, v: number): string {
  if (!Number.isFinite(v)) return t(v > 0 ? 'select.last' : 'select.first');
  if (x === 'wall') return format.wall(v);
  if (x === 'relative') return format.duration(v);
  return Number.isInteger(v) && Math.abs(v) < 1e9
    ? v < 0
      ? `−${format.count(-v)}`
      : format.count(v)
    : format.value(v);
}

/** The text in the field: it is complete, and can be typed in again. */
export function typedText(x: X, v: number): string {
  if (!Number.isFinite(v)) return '';
  return x === 'wall' ? format.moment(v) : String(Number(v.toPrecision(15)));
}

/** Parses what was typed; NaN if it is not valid. */
export function readPlace(x: X, text: string): number {
  return x === 'wall' ? parse.moment(text) : x === 'relative' ? parse.duration(text) : parse.number(text);
}
