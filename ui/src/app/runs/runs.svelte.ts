// Which runs there are for the viewer: filtered, sorted, cut to the best, grouped or as a tree, hidden, coloured. One
// instance, used by the panel and by every dashboard. Notes, columns, metrics, rows and colours have files of their own.
import { tellApart } from '../../base/names/apart';
import { parseFilter, partsOfKey, type Filter, type Filtered } from '../../base/names/filter';
import { roleOf, trainingRun } from '../../base/names/pairs';
import { covers, excluding, including } from '../../base/names/shown';
import { passes } from '../../base/address/where';
import { hub } from '../../data/hub.svelte';
import type { Cell, Run } from '../../data/types';
import { settings } from '../settings.svelte';
import { view } from '../view/view.svelte';
import { Colouring } from './colours/colouring.svelte';
import { bestIsHigh, Columns, partsOf } from './table/columns.svelte';
import { keyOf, withRole } from './groups/groups';
import { Metrics, summed } from './table/metrics.svelte';
import { Names } from './filter/names.svelte';
import { Notes } from './notes/notes.svelte';
import { sortedBy } from './table/order';
import { flatRows, groupRows, Tree, type Row } from './table/rows';
import { findSeeds } from './groups/seeds';

export { direction } from './table/metrics.svelte';

const LETTER = 7; // pixels
const GROUP_ROOM = 20; // letters
const MOST_LABELLED = 16; // lists of names whose labels are kept
const ROOM = 18; // letters: a name that is no longer stays as it is

export class RunsModel {
  readonly notes = new Notes();
  readonly #metrics = new Metrics();
  readonly table = new Columns(this.#metrics, (run) => this.notes.get(run.name).note ?? null);
  readonly names = new Names(() => this.table.hparams);
  #good: Filter = { meets: () => true, keys: [] };

  readonly #parsed = $derived(parseFilter(view.runFilter));
  filterError = $derived(this.#parsed.ok ? '' : this.#parsed.error.message);
  readonly #filter = $derived.by(() => {
    if (this.#parsed.ok) this.#good = this.#parsed.value;
    return this.#good;
  });
  /** Names in conditions that no fact, hyperparameter or metric has. */
  unknownNames = $derived(
    hub.ready
      ? [...new Set(this.#filter.keys.map((key) => partsOfKey(key).name))].filter((name) => this.names.isUnknown(name))
      : [],
  );
  /** Metrics that the conditions are about. */
  readonly #filterTags = $derived(
    this.#filter.keys.flatMap((key) => {
      const known = this.names.resolve(partsOfKey(key).name);
      return known?.kind === 'metric' ? [known.name] : [];
    }),
  );

  /** All cards of a page ask for the labels of the same runs, which may be thousands. */
  readonly #labels = new Map<string, ReadonlyMap<string, string>>();
  /** Short names for names that are shown together, by name: what all of them share is left out where it is long. */
  labelsOf(names: readonly string[], room = ROOM, most?: number): ReadonlyMap<string, string> {
    const key = [room, most, ...names].join('\n');
    let found = this.#labels.get(key);
    if (!found) {
      if (this.#labels.size >= MOST_LABELLED) this.#labels.clear();
      this.#labels.set(key, (found = tellApart(names, room, most)));
    }
    return found;
  }
  nameOf(run: Run): string {
    return this.notes.get(run.name).name ?? run.name;
  }

  // ---- which, and in which order ----

  readonly #listed = $derived.by(() => {
    if (/\barchived[:=]/.test(view.runFilter)) return hub.runs;
    return hub.runs.filter((run) => !this.notes.get(run.name).archived);
  });
  archived = $derived(hub.runs.reduce((n, run) => n + (this.notes.get(run.name).archived ? 1 : 0), 0));

  readonly #passing = $derived.by(() => {
    const { meets } = this.#filter;
    const where = [...view.where];
    return this.#listed.filter(
      (run) =>
        meets({ name: this.nameOf(run), get: (key) => this.value(run, key) }) &&
        where.every(([column, filter]) => passes(filter, this.table.value(column, run))),
    );
  });

  /** Those that pass the filters, in order; with "top" only the first of them. */
  matching = $derived.by(() => {
    const sorted = this.#sorted(this.#passing);
    if (!view.top || !view.sort) return sorted;
    const real = (v: number | string | null) => v !== null && !Number.isNaN(v);
    return sorted.filter((run) => view.sort === 'name' || real(this.table.value(view.sort, run))).slice(0, view.top);
  });
  /** What the viewer asked for needs numbers that are on their way. */
  isWaiting = $derived.by(() => {
    const needed = this.table.wanted(view.top ? [view.sort, ...view.where.keys()] : view.where.keys(), []);
    return [...needed, ...this.#filterTags].some((tag) => !this.#metrics.has(tag));
  });
  /** How many "top" leaves out. */
  cut = $derived(this.#passing.length - this.matching.length);
  isFiltered = $derived(this.matching.length !== this.#listed.length);

  value(run: Run, key: string): Filtered | readonly string[] | undefined {
    switch (key) {
      case 'state':
        return run.state;
      case 'name':
        return run.name;
      case 'points':
        return run.points;
      case 'archived':
        return this.notes.get(run.name).archived ? 'yes' : 'no';
      case 'note':
        return this.notes.get(run.name).note;
      case 'tag':
        return this.notes.get(run.name).tags ?? [];
      case 'damaged':
        return run.damaged;
      case 'attempts':
        return run.attempts;
      case 'duration':
        return run.start !== null && run.last !== null ? run.last - run.start : undefined;
      default: {
        const { of, name } = partsOfKey(key);
        const own = of === '' ? run.hparams?.[name] : undefined;
        if (own !== undefined) return own;
        const tag = this.names.resolve(name)?.name ?? name;
        const cell = this.cell(tag, run.id);
        return cell ? summed(cell, of || 'last', tag).value : undefined;
      }
    }
  }

  #sorted(runs: Run[]): Run[] {
    const sort = view.sort;
    if (sort === '') return runs;
    return sortedBy(runs, (run) => (sort === 'name' ? this.nameOf(run) : this.table.value(sort, run)), view.descending);
  }

  /** A click on a column head: the best values first, then the worst first, then not sorted by this column. */
  sortBy(column: string): void {
    const first = bestIsHigh(column);
    if (view.sort !== column) {
      view.sort = column;
      view.descending = first;
    } else if (view.descending === first) view.descending = !first;
    else {
      view.sort = '';
      view.descending = false;
    }
  }

  /** Shows only the best n runs: by the metric that the table is sorted by, else by its first metric. */
  showTop(n: number): void {
    view.top = n;
    if (n === 0 || partsOf(view.sort)) return;
    const metric =
      this.table.list.find((c) => c.startsWith('m:')) ?? (this.mainTag ? `m:last:${this.mainTag}` : 'i:start');
    view.sort = metric;
    view.descending = bestIsHigh(metric);
  }

  // ---- groups and folders ----

  groupOf(run: Run): string {
    return this.keyOf(run, view.group);
  }
  /** With the role of the run where runs have several: training and validation must not be averaged together. */
  keyOf(run: Run, by: string): string {
    const key = by === 'seeds' ? this.seeds.keyOf(run) : keyOf(run, by, this.notes.get(run.name).tags);
    return this.#hasRoles && by !== '' ? withRole(key, roleOf(run.name).role) : key;
  }
  readonly #hasRoles = $derived(new Set(hub.runs.map((run) => roleOf(run.name).role)).size > 1);
  /** What differs by a seed only. */
  seeds = $derived.by(() => findSeeds(hub.runs));
  /** What bands begin with: folders where any has several runs, else what differs by a seed only: a band of one run shows nothing. */
  groupForBands = $derived.by((): 'path' | 'seeds' => {
    const folders = new Set(hub.runs.map((run) => this.keyOf(run, 'path')));
    return folders.size < hub.runs.length || this.seeds.from === null ? 'path' : 'seeds';
  });

  readonly #tree = new Tree();
  /** Short names of the groups in the list. */
  groupLabels = $derived.by((): ReadonlyMap<string, string> => {
    if (view.group === '' || view.group === 'tree') return new Map();
    const labels = tellApart(
      this.rows.flatMap((row) => (row.kind === 'group' ? [row.label] : [])),
      GROUP_ROOM,
    );
    // the labels are values of a hyperparameter or parts of names: the dots where something was left out are not needed
    for (const [key, label] of labels) {
      const bare = label.replace(/…/g, '');
      labels.set(key, bare.length > GROUP_ROOM ? bare.replace(/validation$/, 'val') : bare);
    }
    return labels;
  });
  rows = $derived.by((): Row[] => {
    const listing = {
      runs: this.matching,
      isSorted: view.sort !== '',
      isOpen: (key: string) => !view.isFolded(key),
      nameOf: (run: Run) => this.nameOf(run),
      room: view.tableFull ? 60 : Math.max(14, Math.floor((settings.panel - 200) / LETTER)),
    };
    if (view.group === 'tree') return this.#tree.rows(this.#listed, listing);
    return view.group === ''
      ? flatRows(listing)
      : groupRows(listing, (run) => this.groupOf(run), view.group === 'path');
  });

  foldAll(shut: boolean): void {
    view.allFolded = shut;
    view.folded = new Set();
  }

  // ---- colours ----

  readonly #colouring = new Colouring(
    this.notes,
    (run, by) => this.keyOf(run, by),
    (run) => this.trainingOf(run),
  );

  colourOf(run: Run): string {
    return this.#colouring.of(run);
  }
  colourOfGroup(key: string, by = view.group): string {
    return this.#colouring.ofGroup(key, by);
  }
  /** By which groups runs are coloured; "" when each has its own. */
  get colourBy(): string {
    return this.#colouring.by;
  }

  // ---- pairs of training and validation ----

  readonly #named = $derived(new Map(hub.runs.map((run) => [run.name, run])));
  /** The run of training that this one validates, while such pairs are shown as one. */
  trainingOf(run: Run): Run | undefined {
    const name = view.pair ? trainingRun(run.name) : null;
    return name === null ? undefined : this.#named.get(name);
  }
  couldPair(run: Run): boolean {
    const name = trainingRun(run.name);
    return name !== null && this.#named.has(name);
  }

  // ---- columns, for dashboards too ----

  get hparams() {
    return this.table.hparams;
  }
  get columns() {
    return this.table.list;
  }
  get mainTag() {
    return this.table.mainTag;
  }
  cell(tag: string, run: number): Cell | undefined {
    return this.#metrics.cell(tag, run);
  }
  /** Why numbers of the table are missing or old; null: nothing is wrong. */
  get trouble() {
    return this.#metrics.trouble;
  }
  tryNow(): void {
    this.#metrics.tryNow();
  }

  /** Inside an effect: keeps the numbers that the table, its filters and its order need up to date. */
  follow(): void {
    $effect(() => {
      const tags = new Set(this.table.wanted([view.sort, ...view.where.keys()]));
      for (const tag of this.#filterTags) tags.add(tag);
      this.#metrics.want([...tags]);
    });
  }

  // ---- what is pointed at ----

  /** Runs, or a group of them, that the pointer is on: in the list, a legend or a chart. Their lines come forward. */
  pointed = $state.raw<{ names: ReadonlySet<string>; group: string } | null>(null);

  pointAt(those: readonly Run[], group?: string): void {
    const names = new Set(those.map((run) => run.name));
    this.pointed = { names, group: group ?? (those.length === 1 && view.group ? this.groupOf(those[0]) : '') };
  }

  // ---- what is drawn ----

  shown = $derived(this.matching.filter((run) => this.isShown(run)));

  isShown(run: Run): boolean {
    return view.only ? covers(view.only, run.name) : !covers(view.hidden, run.name);
  }

  toggle(run: Run): void {
    this.setShown([run], !this.isShown(run));
  }
  /** A hidden folder is stored as one entry instead of one for each run in it. */
  setShown(runs: readonly Run[], isShown: boolean, folder = ''): void {
    const names = folder ? [folder] : runs.map((run) => run.name);
    const all = () => hub.runs.map((run) => run.name);
    if (view.only) view.only = isShown ? including(view.only, names) : excluding(view.only, names, all());
    else view.hidden = isShown ? excluding(view.hidden, names, all()) : including(view.hidden, names);
  }
  toggleGroup(runs: readonly Run[], folder = ''): void {
    this.setShown(runs, !runs.some((run) => this.isShown(run)), folder);
  }
  solo(runs: readonly Run[], folder = ''): void {
    const names = folder ? [folder] : runs.map((run) => run.name);
    const already = view.only?.size === names.length && names.every((name) => view.only?.has(name));
    view.only = already ? null : new Set(names);
    view.hidden = new Set();
  }
  showAll(): void {
    view.only = null;
    view.hidden = new Set();
  }
  /** Takes away whatever keeps runs from the list, and shows all. */
  clearFilters(): void {
    view.runFilter = '';
    view.where = new Map();
    view.top = 0;
    this.showAll();
  }
  /** All that pass the filter, and only those: what the header's box does. */
  toggleMatching(): void {
    const allShown = this.shown.length === this.matching.length;
    if (!this.isFiltered && allShown) {
      view.only = new Set();
      view.hidden = new Set();
    } else if (!this.isFiltered) this.showAll();
    else this.setShown(this.matching, !allShown);
  }
}

export const runs = new RunsModel();
