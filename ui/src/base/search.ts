// Binary search in anything that is sorted.

/**
 * The first index of `from`..`to` for which `isBefore` is false; `to` if there is none. `isBefore` must be true up to some
 * index and false from there on.
 */
export function partitionPoint(from: number, to: number, isBefore: (index: number) => boolean): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
