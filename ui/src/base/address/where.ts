// Filters of columns: some values, an interval, or both, and whether a row without a value passes. As text for the
// address: "column, -, 0.1~0.5, =, value, value" in lists of lists.
import { joinList, splitList } from './hash';

export interface ColumnFilter {
  values: ReadonlySet<string> | null;
  range: [number, number] | null;
  /** rows without a value pass */
  blank: boolean;
}
export type Where = ReadonlyMap<string, ColumnFilter>;

export const EVERYTHING: ColumnFilter = { values: null, range: null, blank: true };
export const isTrivial = (f: ColumnFilter): boolean => f.values === null && f.range === null && f.blank;

export function passes(filter: ColumnFilter, value: number | string | null): boolean {
  if (value === null) return filter.blank;
  if (filter.range && !(typeof value === 'number' && value >= filter.range[0] && value <= filter.range[1]))
    return false;
  return filter.values === null || filter.values.has(String(value));
}

export function writeWhere(where: Where): string {
  return joinList(
    [...where].map(([column, f]) =>
      joinList([column, f.blank ? '' : '-', f.range ? f.range.join('~') : '', ...(f.values ? ['=', ...f.values] : [])]),
    ),
  );
}

export function readWhere(text: string): Where {
  const where = new Map<string, ColumnFilter>();
  for (const item of splitList(text)) {
    const [column, blank = '', interval = '', mark, ...values] = splitList(item);
    if (!column) continue;
    const ends = interval.split('~').map(Number);
    const range: [number, number] | null =
      interval !== '' && ends.length === 2 && ends[0] <= ends[1] ? [ends[0], ends[1]] : null;
    const filter: ColumnFilter = { values: mark === '=' ? new Set(values) : null, range, blank: blank !== '-' };
    if (!isTrivial(filter)) where.set(column, filter);
  }
  return where;
}
