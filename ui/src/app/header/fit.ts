// Which tabs of the header there is room for.

/**
 * Indices of the tabs that fit beside each other: the first ones, and the open one wherever it is in the list (-1: none
 * is open). The others go behind "More", which takes `more` pixels and is also there when `hasMore`.
 */
export function fitting(
  widths: readonly number[],
  more: number,
  hasMore: boolean,
  room: number,
  open: number,
): number[] {
  for (let n = widths.length; n > 0; n--) {
    const list = widths.map((_, i) => i).slice(0, n);
    if (open >= n) list[n - 1] = open;
    const menu = hasMore || n < widths.length ? more : 0;
    if (list.reduce((sum, i) => sum + widths[i], menu) <= room) return list;
  }
  return open >= 0 && open < widths.length ? [open] : [];
}
