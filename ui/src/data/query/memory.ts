// The memory behind columns. A reply is one buffer, and every column a view into it, so one series that is kept keeps
// the whole reply alive. When less than half of a buffer is still in use, its columns are copied out and the buffer is released.
import type { Series } from '../columns';

const COLUMNS = ['step', 'wall', 'value', 'smooth', 'flagsOf', 'x'] as const;
type View = Float64Array | Uint8Array;

/** Series may share a column (equal steps): each is counted once. */
function usedBytes(series: Iterable<Series>): Map<ArrayBufferLike, number> {
  const used = new Map<ArrayBufferLike, { bytes: number; seen: Set<number> }>();
  for (const one of series)
    for (const name of COLUMNS) {
      const view = one[name];
      if (!view) continue;
      let known = used.get(view.buffer);
      if (!known) used.set(view.buffer, (known = { bytes: 0, seen: new Set() }));
      if (known.seen.has(view.byteOffset)) continue;
      known.seen.add(view.byteOffset);
      known.bytes += view.byteLength;
    }
  return new Map([...used].map(([buffer, { bytes }]) => [buffer, bytes]));
}

/** Bytes of the buffers that these series keep alive. */
export function bytesOf(series: Iterable<Series>): number {
  let sum = 0;
  for (const buffer of usedBytes(series).keys()) sum += buffer.byteLength;
  return sum;
}

/** The same series, with columns of their own where they kept more than twice their size alive. */
export function compact(series: Map<string, Series>): Map<string, Series> {
  const wasteful = new Set<ArrayBufferLike>();
  for (const [buffer, used] of usedBytes(series.values())) if (used * 2 < buffer.byteLength) wasteful.add(buffer);
  if (wasteful.size === 0) return series;
  const copies = new Map<ArrayBufferLike, Map<number, View>>();
  const copyOf = <V extends View>(view: V | null): V | null => {
    if (!view || !wasteful.has(view.buffer)) return view;
    let made = copies.get(view.buffer);
    if (!made) copies.set(view.buffer, (made = new Map<number, View>()));
    const known = made.get(view.byteOffset) ?? view.slice();
    made.set(view.byteOffset, known);
    return known as V;
  };
  const compacted = new Map<string, Series>();
  for (const [key, one] of series) {
    const [step, wall, value, smooth, x] = [one.step, one.wall, one.value, one.smooth, one.x].map(copyOf);
    compacted.set(key, { ...one, step, wall, value, smooth, x, flagsOf: copyOf(one.flagsOf) });
  }
  return compacted;
}
