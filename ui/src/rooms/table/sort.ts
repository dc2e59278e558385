// The order of a table's rows. Pure functions.

export type Value = number | string | null;

/**
 * Sorts rows by a column, in descending order if "-" is before its id. Missing values and NaN come last in both orders.
 * The sort is stable.
 */
export function sortRows<Row>(
  rows: readonly Row[],
  sort: string,
  columns: readonly string[],
  valueOf: (row: Row, column: string) => Value,
  byName: (a: string, b: string) => number,
): readonly Row[] {
  const id = sort.replace(/^-/, '');
  if (!columns.includes(id)) return rows;
  const sign = sort.startsWith('-') ? -1 : 1;
  const isMissing = (v: Value) => v === null || (typeof v === 'number' && Number.isNaN(v));
  const keyed = rows.map((row) => ({ row, v: valueOf(row, id) }));
  keyed.sort((a, b) => {
    if (isMissing(a.v) || isMissing(b.v)) return Number(isMissing(a.v)) - Number(isMissing(b.v));
    if (typeof a.v === 'number' && typeof b.v === 'number') return a.v === b.v ? 0 : sign * (a.v < b.v ? -1 : 1);
    return sign * byName(String(a.v), String(b.v));
  });
  return keyed.map((k) => k.row);
}

/** The new sort order after a click on a column head: ascending, then descending, then unsorted. */
export function nextSort(sort: string, id: string): string {
  if (sort === id) return `-${id}`;
  return sort === `-${id}` ? '' : id;
}
