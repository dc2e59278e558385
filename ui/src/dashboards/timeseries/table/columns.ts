// The columns of the tables below charts: which there are, the default ones, and the value of a row in each. The column
// of a hyperparameter is "h:NAME". Numbers are those of the drawn line: smoothed if smoothing is on.
import type { Run, Stats } from '../../../public';
import type { Value } from '../../../rooms/table/sort';

export type Kind = 'single' | 'range';
export interface Row {
  key: string;
  name: string;
  tag: string; // '' if the chart has only one tag
  colour: string;
  run: Run | null; // null for a group of runs
  firstWall: number;
  stats: Stats | null;
  /** for a band: its edges at the position; over a range, the least and the greatest */
  edges: { low: number; high: number } | null;
}

export const COLUMNS = {
  single: ['run', 'smoothed', 'value', 'step', 'relative'],
  range: [
    'run',
    'min',
    'max',
    'start',
    'end',
    'change',
    'percent',
    'startStep',
    'endStep',
    'maxStep',
    'minStep',
    'mean',
    'rawChange',
  ],
} as const;
export type ColumnId = (typeof COLUMNS)[Kind][number];

export const isHparam = (id: string): boolean => id.startsWith('h:');
export const hparamOf = (id: string): string => id.slice(2);
export const isStep = (id: string): boolean => id === 'step' || id.endsWith('Step');

/** The chosen columns that this version knows. */
export function knownColumns(kind: Kind, chosen: readonly string[]): string[] {
  const known: readonly string[] = COLUMNS[kind];
  return chosen.filter((id) => isHparam(id) || known.includes(id));
}

const EDGES = ['low', 'high'];

/** The columns to show: those that are known, without "smoothed" if nothing is smoothed; for bands, also their edges. */
export function shownColumns(
  kind: Kind,
  chosen: readonly string[],
  has: { smooth: boolean; bands: boolean },
): string[] {
  const shown = knownColumns(kind, chosen).filter((id) => id !== 'smoothed' || has.smooth);
  if (!has.bands) return shown;
  const before = shown.findIndex((id) => id === 'value' || id === 'mean');
  return shown.toSpliced(before < 0 ? shown.length : before + 1, 0, ...EDGES);
}

/** Does the column show numbers of the smoothed line, if there is one, without saying so in its name? */
export const isOfLine = (id: string): boolean => ['min', 'max', 'start', 'end', 'mean'].includes(id);

/** All columns that are not chosen; hyperparameters come last. */
export function notChosen(kind: Kind, chosen: readonly string[], hparams: readonly string[]): string[] {
  return [...COLUMNS[kind], ...hparams.map((name) => `h:${name}`)].filter((id) => !chosen.includes(id));
}

export function valueOf(row: Row, id: string): Value {
  if (id === 'run') return row.name;
  if (isHparam(id)) {
    const value = row.run?.hparams?.[hparamOf(id)];
    return value === undefined ? null : typeof value === 'boolean' ? String(value) : value;
  }
  if (id === 'low' || id === 'high') return row.edges?.[id] ?? null;
  const stats = row.stats;
  if (!stats) return null;
  const { start, end, line } = stats;
  switch (id as ColumnId) {
    case 'smoothed':
    case 'start':
      return start.value;
    case 'value':
      return start.raw;
    case 'step':
    case 'startStep':
      return start.step;
    case 'relative':
      return start.wall - row.firstWall;
    case 'end':
      return end.value;
    case 'endStep':
      return end.step;
    case 'change':
      return end.value - start.value;
    case 'rawChange':
      return end.raw - start.raw;
    case 'percent':
      return start.value === 0 ? null : (end.value - start.value) / Math.abs(start.value);
    case 'min':
      return line.min?.value ?? null;
    case 'max':
      return line.max?.value ?? null;
    case 'minStep':
      return line.min?.step ?? null;
    case 'maxStep':
      return line.max?.step ?? null;
    case 'mean':
      return Number.isFinite(line.mean) ? line.mean : null;
    default:
      return null;
  }
}

/** The raw value that belongs to a number of the smoothed line; null if the column shows raw values anyway. */
export function rawOf(row: Row, id: string): number | null {
  const stats = row.stats;
  if (!stats) return null;
  switch (id as ColumnId) {
    case 'start':
    case 'smoothed':
      return stats.start.raw;
    case 'end':
      return stats.end.raw;
    case 'change':
      return stats.end.raw - stats.start.raw;
    case 'min':
      return stats.raw.min?.raw ?? null;
    case 'max':
      return stats.raw.max?.raw ?? null;
    case 'mean':
      return stats.raw.mean;
    default:
      return null;
  }
}
