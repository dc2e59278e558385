// The columns of the runs table: which there are, which are chosen, what stands in a cell. A column is a word:
// "m:min:TAG" (last, min, max, best), "h:HPARAM", "i:start" and its like.
import { big, count, digitsOf, duration, exact, iso, setting, value, wall } from '../../../base/numbers/format';
import { mostDecimals, padded, roomFor } from '../../../base/numbers/align';
import { naturalCompare } from '../../../base/names/natural';
import { hub } from '../../../data/hub.svelte';
import type { Run } from '../../../data/types';
import { metricTags } from '../../tabs/dashboards';
import { t } from '../../texts/i18n.svelte';
import { view } from '../../view/view.svelte';
import { BETTER_HIGH, direction, summed, type Metrics, type Summary } from './metrics.svelte';

export interface HParam {
  name: string;
  differs: boolean;
  /** every value, as a filter lists them */
  values: (number | string)[];
}
export const FACTS = ['state', 'start', 'duration', 'points', 'note'] as const;
export const SUMMARIES: readonly Summary[] = ['last', 'min', 'max', 'best'];

const LONG_NAME = 18; // letters

export type ColumnParts =
  | { kind: 'metric'; what: Summary; tag: string }
  | { kind: 'hparam'; name: string }
  | { kind: 'fact'; fact: (typeof FACTS)[number] };

const parsed = new Map<string, ColumnParts | null>();
export function partsOf(column: string): ColumnParts | null {
  let parts = parsed.get(column);
  if (parts === undefined) {
    if (parsed.size > 1000) parsed.clear();
    parsed.set(column, (parts = parse(column)));
  }
  return parts;
}
function parse(column: string): ColumnParts | null {
  if (column.startsWith('h:')) return { kind: 'hparam', name: column.slice(2) };
  if (column.startsWith('i:')) {
    const fact = FACTS.find((f) => f === column.slice(2));
    return fact ? { kind: 'fact', fact } : null;
  }
  const found = /^m:(last|min|max|best):([^]*)$/.exec(column);
  return found ? { kind: 'metric', what: found[1] as Summary, tag: found[2] } : null;
}

/** Does a greater value come first when somebody sorts by it? */
export function bestIsHigh(column: string): boolean {
  const parts = partsOf(column);
  if (parts?.kind !== 'metric' || parts.what === 'best') return false;
  return parts.what === 'max' || (parts.what === 'last' && direction(parts.tag) === 'max');
}

function sameValues(a: Run['hparams'] = {}, b: Run['hparams'] = {}): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

export class Columns {
  constructor(
    private readonly metrics: Metrics,
    private readonly noteOf: (run: Run) => string | null,
  ) {}

  // runs change all the time, their hyperparameters hardly ever
  #seen: readonly Run[] = [];
  #known: HParam[] = [];
  hparams = $derived.by((): HParam[] => {
    const isSame =
      hub.runs.length === this.#seen.length &&
      hub.runs.every((run, i) => run === this.#seen[i] || sameValues(run.hparams, this.#seen[i].hparams));
    this.#seen = hub.runs;
    if (!isSame) this.#known = this.#collect();
    return this.#known;
  });
  #collect(): HParam[] {
    const values = new Map<string, Map<string, number | string>>();
    for (const run of hub.runs)
      for (const name in run.hparams) {
        const v = run.hparams[name];
        let all = values.get(name);
        if (!all) values.set(name, (all = new Map()));
        const plain = typeof v === 'boolean' ? String(v) : v;
        all.set(String(plain), plain);
      }
    const order = (a: number | string, b: number | string) =>
      typeof a === 'number' && typeof b === 'number' ? a - b : naturalCompare(String(a), String(b));
    return [...values]
      .map(([name, all]) => ({ name, differs: all.size > 1, values: [...all.values()].sort(order) }))
      .sort((a, b) => naturalCompare(a.name, b.name));
  }

  mainTag = $derived.by(() => {
    const tags = metricTags().map((tag) => tag.tag);
    const find = (pattern: RegExp) => tags.find((tag) => pattern.test(tag));
    return (
      find(/^epoch_loss$/) ?? // of Keras, which has others named after validation
      find(/(^|\/)(val|valid|validation|eval|test)[^]*loss/i) ??
      find(/loss/i) ??
      find(BETTER_HIGH) ??
      tags[0] ??
      ''
    );
  });

  readonly #hasLongNames = $derived.by(() => {
    const some = hub.runs.slice(0, 100);
    return some.reduce((sum, run) => sum + run.name.length, 0) > LONG_NAME * some.length;
  });

  /** Those chosen, else what most people want to see first. */
  list = $derived.by((): string[] => {
    if (view.columns) return view.columns.filter((column, i, all) => partsOf(column) && all.indexOf(column) === i);
    const main = this.mainTag ? [`m:${direction(this.mainTag) ?? 'last'}:${this.mainTag}`] : [];
    const hparams = this.hparams.filter((h) => h.differs).map((h) => `h:${h.name}`);
    // beside long names, which usually say what differs, there is no room for it
    if (!view.tableFull) return [...main, ...(this.#hasLongNames ? [] : hparams.slice(0, 1))];
    const others = metricTags().filter((tag) => direction(tag.tag) !== null && tag.tag !== this.mainTag);
    return [
      ...main,
      ...others.slice(0, 3).map(({ tag }) => `m:${direction(tag) ?? 'last'}:${tag}`),
      ...hparams.slice(0, 8),
      ...FACTS.map((fact) => `i:${fact}`),
    ];
  });

  toggle(column: string): void {
    view.columns = this.list.includes(column) ? this.list.filter((c) => c !== column) : [...this.list, column];
  }
  /** Puts a column before another; before null: at the end. */
  move(column: string, before: string | null): void {
    if (column === before) return;
    const rest = this.list.filter((c) => c !== column);
    const at = before === null ? -1 : rest.indexOf(before);
    rest.splice(at < 0 ? rest.length : at, 0, column);
    view.columns = rest;
  }
  shift(column: string, by: -1 | 1): void {
    const list = this.list;
    const at = list.indexOf(column) + by;
    if (at >= 0 && at < list.length) this.move(column, by < 0 ? list[at] : (list[at + 1] ?? null));
  }

  /** Tags whose summaries a table with these columns, filters and order needs. */
  wanted(others: Iterable<string>, columns = this.list): string[] {
    const tags = new Set<string>();
    for (const column of [...columns, ...others]) {
      const parts = partsOf(column);
      if (parts?.kind === 'metric') tags.add(parts.tag);
    }
    return [...tags];
  }

  /** The number in a metric column. */
  metric(column: string, run: Run): { value: number; step: number } | null {
    const parts = partsOf(column);
    if (parts?.kind !== 'metric') return null;
    const cell = this.metrics.cell(parts.tag, run.id);
    return cell ? summed(cell, parts.what, parts.tag) : null;
  }

  /** How the numbers of a column are written: so many digits tell them apart, so many decimals stand below each other. */
  readonly #shapes = $derived.by(() => {
    const shapes = new Map<string, { digits: number; decimals: number; length: number }>();
    for (const column of this.list) {
      const parts = partsOf(column);
      if (parts?.kind === 'hparam') {
        const values = this.hparams.find(({ name }) => name === parts.name)?.values ?? [];
        const texts = values.slice(0, 200).map((v) => (typeof v === 'number' ? setting(v) : ''));
        shapes.set(column, { digits: 4, decimals: mostDecimals(texts), length: 0 });
      }
      if (parts?.kind !== 'metric' || parts.what === 'best') continue;
      const values = hub.runs.map((run) => this.metric(column, run)?.value);
      const digits = digitsOf(values);
      shapes.set(column, { digits, ...roomFor(values, (v) => value(v, digits)) });
    }
    return shapes;
  });
  /** Digits that tell the values of a metric column apart. */
  digits(column: string): number {
    return this.#shapes.get(column)?.digits ?? 4;
  }
  /** Characters that the numbers of a metric column take more than usual. */
  extra(column: string): number {
    return Math.max(0, this.digits(column) - 4, (this.#shapes.get(column)?.length ?? 0) - 7);
  }
  /** A value of the column in a row, where decimal points stand below each other. */
  inRow(column: string, v: number | string | null): string {
    const text = this.show(column, v);
    return typeof v === 'number' ? padded(text, this.#shapes.get(column)?.decimals ?? 0) : text;
  }

  value(column: string, run: Run): number | string | null {
    const parts = partsOf(column);
    if (parts?.kind === 'metric') return this.metric(column, run)?.value ?? null;
    if (parts?.kind === 'hparam') {
      const v = run.hparams?.[parts.name];
      return v === undefined ? null : typeof v === 'boolean' ? String(v) : v;
    }
    switch (parts?.fact) {
      case 'state':
        return run.state;
      case 'start':
        return run.start;
      case 'duration':
        return run.start !== null && run.last !== null ? run.last - run.start : null;
      case 'points':
        return run.points;
      case 'note':
        return this.noteOf(run);
    }
    return null;
  }

  /** What a group has in a column: the best of a metric (by which groups are ordered too), a value that all share. */
  sum(column: string, those: readonly Run[]): { text: string; title: string } | null {
    const parts = partsOf(column);
    if (parts?.kind === 'hparam') {
      const first = those.length ? this.value(column, those[0]) : null;
      return first !== null && those.every((run) => this.value(column, run) === first)
        ? { text: this.show(column, first), title: String(first) }
        : null;
    }
    if (parts?.kind !== 'metric' || parts.what === 'best') return null;
    let n = 0;
    let mean = 0;
    let squares = 0;
    let best = NaN;
    for (const run of those) {
      const v = this.metric(column, run)?.value ?? NaN;
      if (!Number.isFinite(v)) continue;
      n++;
      const off = v - mean;
      mean += off / n;
      squares += off * (v - mean);
      if (!(bestIsHigh(column) ? best >= v : best <= v)) best = v;
    }
    if (n === 0) return null;
    const std = n > 1 ? Math.sqrt(squares / (n - 1)) : 0;
    return {
      text: this.inRow(column, best),
      title: t('group.sum', {
        n: count(n),
        best: exact(best),
        mean: value(mean, this.digits(column)),
        std: value(std),
      }),
    };
  }

  title(column: string): string {
    const parts = partsOf(column);
    if (parts?.kind === 'hparam') return parts.name;
    if (parts?.kind === 'metric') return `${parts.tag} ${t(`col.${parts.what}`)}`;
    return parts ? t(`col.${parts.fact}`) : column;
  }
  /** A value of the column as it stands in a row or on a slider. */
  show(column: string, v: number | string | null): string {
    if (v === null) return '';
    const parts = partsOf(column);
    if (parts?.kind === 'fact' && parts.fact === 'state') return t(`state.${v as Run['state']}`);
    if (typeof v === 'string') return v;
    if (parts?.kind === 'hparam') return setting(v);
    if (parts?.kind === 'fact')
      return parts.fact === 'duration' ? duration(v) : parts.fact === 'start' ? wall(v) : big(v);
    return parts?.what === 'best' ? count(v) : value(v, this.digits(column));
  }
  /** All digits, and for a metric the step that the value is from. */
  full(column: string, run: Run): string {
    const v = this.value(column, run);
    if (v === null) return '';
    if (column === 'i:start' && typeof v === 'number') return iso(v);
    const step = this.metric(column, run)?.step ?? NaN;
    return (
      (typeof v === 'number' ? exact(v) : this.show(column, v)) +
      (Number.isFinite(step) ? ` · ${t('tip.step', { n: count(step) })}` : '')
    );
  }
}
