// The view: everything that decides what is shown, as state that is also the address. Here are the tab and what belongs
// to the runs; rooms and dashboards add fields of their own (add). encode() and decode() are the whole of it, so a step of
// undo is two addresses and a saved view is one of them. Values of parts that are not loaded yet are kept as they came.
import { count, flag, names, text, toggled, type Field } from '../../base/address/fields';
import { formatHash, joinList, parseHash, splitList } from '../../base/address/hash';
import type { Link } from '../../base/address/tensorboard.keys';
import { isTrivial, readWhere, writeWhere, type ColumnFilter, type Where } from '../../base/address/where';
import { tabOf } from '../../dashboards';
import { History, type Step } from './history';

/** The address of a view that has only defaults: an empty address would be filled with the viewer's preferences. */
const NOTHING_ELSE = 'v';

/** What all dashboards share before what is of one, which has a prefix. */
const inOrder = (a: string, b: string): number => Number(a.includes('.')) - Number(b.includes('.')) || (a < b ? -1 : 1);

export class View {
  tab = $state(tabOf(''));
  runFilter = $state('');
  hidden = $state.raw<ReadonlySet<string>>(new Set());
  only = $state.raw<ReadonlySet<string> | null>(null);
  group = $state('');
  colour = $state('run');
  sort = $state('');
  descending = $state(false);
  columns = $state.raw<string[] | null>(null);
  /** groups and folders that are shut; those that are open when allFolded */
  folded = $state.raw<ReadonlySet<string>>(new Set());
  allFolded = $state(false);
  /** only the first so many of the sorted runs; 0: all */
  top = $state(0);
  where = $state.raw<Where>(new Map());
  /** the run that others are compared with, by name */
  baseline = $state('');
  /** training and validation are one thing, in one colour */
  pair = $state(false);
  /** the run whose details are open, by name */
  details = $state('');
  tableFull = $state(false);

  readonly #fields = new Map<string, Field>();
  readonly #aliases = new Map<string, string>();
  #parts = $state(0);
  /** values that no field has claimed yet */
  #kept = $state.raw<ReadonlyMap<string, string>>(new Map());

  constructor() {
    this.add('', [
      text('runs', this, 'runFilter'),
      names('hide', this, 'hidden'),
      {
        key: 'only',
        write: () => (this.only ? joinList(this.only) || ',' : ''),
        read: (t) => (this.only = t === '' ? null : new Set(splitList(t).filter((n) => n !== ''))),
      },
      text('group', this, 'group'),
      {
        key: 'colour',
        write: () => (this.colour === 'run' ? '' : this.colour),
        read: (t) => (this.colour = t || 'run'),
      },
      {
        key: 'sort',
        write: () => (this.sort ? (this.descending ? '-' : '') + this.sort : ''),
        read: (t) => {
          this.descending = t.startsWith('-');
          this.sort = t.replace(/^-/, '');
        },
      },
      {
        key: 'cols',
        write: () => (this.columns ? joinList(this.columns) || ',' : ''),
        read: (t) => (this.columns = t === '' ? null : splitList(t).filter((n) => n !== '')),
      },
      names('fold', this, 'folded'),
      flag('folds', this, 'allFolded', 'all'),
      count('top', this, 'top'),
      { key: 'where', write: () => writeWhere(this.where), read: (t) => (this.where = readWhere(t)) },
      text('base', this, 'baseline'),
      flag('pair', this, 'pair'),
      text('details', this, 'details'),
      flag('table', this, 'tableFull', 'full'),
    ]);
  }

  /**
   * More fields: of a room, which every dashboard shares, under their own names; of a dashboard as "prefix.key".
   * isOld: links from before there were prefixes have them without.
   */
  add(prefix: string, fields: readonly Field[], isOld = false): void {
    const kept = new Map(this.#kept);
    for (const field of fields) {
      const key = prefix ? `${prefix}.${field.key}` : field.key;
      this.#fields.set(key, field);
      if (isOld) this.#aliases.set(field.key, key);
      const value = kept.get(key) ?? (isOld ? kept.get(field.key) : undefined);
      if (value !== undefined) field.read(value);
      kept.delete(key);
      if (isOld) kept.delete(field.key);
    }
    this.#kept = kept;
    this.#parts++;
  }

  /** What differs from the defaults, by key; in an order that does not depend on which part was loaded first. */
  values(): Map<string, string> {
    void this.#parts;
    const values = new Map<string, string>();
    for (const [key, field] of this.#fields) {
      const value = field.write();
      if (value !== '') values.set(key, value);
    }
    for (const [key, value] of this.#kept) values.set(key, value);
    return new Map([...values].sort(([a], [b]) => inOrder(a, b)));
  }

  /** Of the fields that are known: is it a taste? undefined: nobody knows yet. */
  isTaste(key: string): boolean | undefined {
    const field = this.#fields.get(this.#aliases.get(key) ?? key);
    return field && field.taste === true;
  }

  /** Sets one value by its key, as a link would; also of a part that comes later. */
  set(key: string, value: string): void {
    const field = this.#fields.get(key);
    if (field) field.read(value);
    else this.#kept = new Map([...this.#kept, [key, value]]);
  }

  encode(): string {
    const values = this.values();
    if (values.size === 0) values.set(NOTHING_ELSE, '1');
    return formatHash({ tab: this.tab, values });
  }

  decode(hash: string): void {
    const { tab, values } = parseHash(hash);
    this.tab = tabOf(tab);
    values.delete(NOTHING_ELSE);
    const known = new Map<string, string>();
    for (const [key, value] of values) {
      const name = this.#aliases.get(key) ?? key;
      if (this.#fields.has(name)) known.set(name, value);
    }
    for (const [key, field] of this.#fields) field.read(known.get(key) ?? '');
    this.#kept = new Map([...values].filter(([key]) => !this.#fields.has(this.#aliases.get(key) ?? key)));
  }

  /** From the address that the page was opened with; one that says nothing is open to tastes. Answers the address then. */
  open({ hash: text, search }: Link, tastes: ReadonlyMap<string, string> = new Map()): Link {
    const hash = parseHash(text);
    if (hash.values.size === 0) for (const [key, value] of tastes) hash.values.set(key, value);
    this.decode(formatHash(hash));
    return { hash: this.encode(), search };
  }

  // ---- undo ----

  readonly #history = new History();
  #present = '';

  /** Called with each new address; remembers the one before. */
  note(hash: string): void {
    const before = this.#present;
    if (hash === before) return;
    if (before) this.#history.push({ undo: () => this.#go(before), redo: () => this.#go(hash) });
    this.#present = hash;
  }

  #go(hash: string): void {
    this.#present = hash;
    this.decode(hash);
  }

  /** A change that is not in the address, such as a run's name: it is undone in its turn. */
  did(step: Step): void {
    this.note(this.encode());
    this.#history.push(step);
  }

  undo(step?: Step): boolean {
    this.note(this.encode());
    return this.#history.undo(step);
  }

  redo(): boolean {
    this.note(this.encode());
    return this.#history.redo();
  }

  // ---- small changes that several places make ----

  setFilter(column: string, filter: ColumnFilter): void {
    const next = new Map(this.where);
    if (isTrivial(filter)) next.delete(column);
    else next.set(column, filter);
    this.where = next;
  }

  isFolded(key: string): boolean {
    return this.folded.has(key) !== this.allFolded;
  }

  toggleFold(key: string): void {
    this.folded = toggled(this.folded, key);
  }
}

export const view = new View();
