// The order of rows by a column: numbers by size, texts as people count, NaN and what is missing last either way.
import { naturalCompare } from '../../../base/names/natural';

export function sortedBy<T>(
  items: readonly T[],
  valueOf: (item: T) => number | string | null,
  descending: boolean,
): T[] {
  const sign = descending ? -1 : 1;
  const last = (v: number | string | null) => (v === null ? 2 : Number.isNaN(v) ? 1 : 0);
  const keyed = items.map((item) => ({ item, v: valueOf(item) }));
  keyed.sort((a, b) => {
    const late = last(a.v) - last(b.v);
    if (late !== 0 || last(a.v) > 0) return late;
    if (typeof a.v === 'number' && typeof b.v === 'number') return sign * (a.v < b.v ? -1 : a.v > b.v ? 1 : 0);
    return sign * naturalCompare(String(a.v), String(b.v));
  });
  return keyed.map((k) => k.item);
}
