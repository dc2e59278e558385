// A place on x as people read and type it, on each kind of axis.
import { format, parse, t, type X } from '../../public';

/** On the handle: short. */
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

/** In the field: what can be typed again and says all of it. */
export function typedText(x: X, v: number): string {
  if (!Number.isFinite(v)) return '';
  return x === 'wall' ? format.moment(v) : String(Number(v.toPrecision(15)));
}

/** NaN: nothing of the kind. */
export function readPlace(x: X, text: string): number {
  return x === 'wall' ? parse.moment(text) : x === 'relative' ? parse.duration(text) : parse.number(text);
}
