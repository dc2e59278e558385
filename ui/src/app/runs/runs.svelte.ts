// Which runs there are for the viewer: filtered, sorted, cut to the best, grouped or as a tree, hidden, coloured. One
// instance, used by the panel and by every dashboard. Notes, columns and metrics have files of their own.
import { untrack } from 'svelte';
import { Colours, type Colour } from '../../base/colours';
import { parseFilter, type Filtered, type Predicate } from '../../base/filter';
import { naturalCompare, splitTag } from '../../base/natural';
import { trainingRun } from '../../base/pairs';
import { covers, excluding, including } from '../../base/shown';
import { rowsOf, treeOf } from '../../base/tree';
import { passes } from '../../base/where';
import { hub } from '../../data/hub.svelte';
import { toNumber, type Cell, type Run } from '../../data/types';
import { settings } from '../settings.svelte';
import { view } from '../view.svelte';
import { bestIsHigh, Columns, partsOf } from './columns.svelte';
import { compareKeys, grouped, keyOf } from './groups';
import { Metrics } from './metrics.svelte';
import { Notes, pairFrom } from './notes.svelte';
import { sortedBy } from './order';

export { direction } from './metrics.svelte';

export interface GroupRow {
  kind: 'group';
  key: string;
  label: string;
  level: number;
  runs: Run[];
  open: boolean;
  /** a word for all of it in the address: "a/b/"; "" when it has none */
  folder: string;
  /** its name among the groups that have a colour; null for a folder that holds folders only */
  colourKey: string | null;
}
export interface RunRow {
  kind: 'run';
  run: Run;
  folder: string;
  label: string;
  level: number;
}
export type Row = GroupRow | RunRow;

export class RunsModel {
  readonly notes = new Notes();
  private readonly metrics = new Metrics();
  readonly table = new Columns(this.metrics);
  private readonly givenToRuns = new Colours();
  private readonly givenToGroups = new Map<string, Colours>();
  private good: Predicate = () => true;

  filterError = $derived.by(() => {
    const parsed = parseFilter(view.runFilter);
    return parsed.ok ? '' : parsed.error.message;
  });
  private readonly predicate = $derived.by(() => {
    const parsed = parseFilter(view.runFilter);
    if (parsed.ok) this.good = parsed.value;
    return this.good;
  });

  nameOf(run: Run): string {
    return this.notes.get(run.name).name ?? run.name;
  }

  // ---- which, and in which order ----

  private readonly listed = $derived.by(() => {
    if (/\barchived[:=]/.test(view.runFilter)) return hub.runs;
    return hub.runs.filter((run) => !this.notes.get(run.name).archived);
  });
  archived = $derived(hub.runs.reduce((n, run) => n + (this.notes.get(run.name).archived ? 1 : 0), 0));

  private readonly passing = $derived.by(() => {
    const meets = this.predicate;
    const where = [...view.where];
    return this.listed.filter(
      (run) =>
        meets({ name: this.nameOf(run), get: (key) => this.value(run, key) }) &&
        where.every(([column, filter]) => passes(filter, this.table.value(column, run))),
    );
  });

  /** Those that pass the filters, in order; with "top" only the first of them. */
  matching = $derived.by(() => {
    const sorted = this.sorted(this.passing);
    if (!view.top || !view.sort) return sorted;
    const real = (v: number | string | null) => v !== null && !Number.isNaN(v);
    return sorted.filter((run) => view.sort === 'name' || real(this.table.value(view.sort, run))).slice(0, view.top);
  });
  /** What the viewer asked for needs numbers that are on their way. */
  isWaiting = $derived.by(() => {
    const needed = this.table.wanted(view.top ? [view.sort, ...view.where.keys()] : view.where.keys(), []);
    return needed.some((tag) => !this.metrics.has(tag));
  });
  /** How many "top" leaves out. */
  cut = $derived(this.passing.length - this.matching.length);
  isFiltered = $derived(this.matching.length !== this.listed.length);

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
        const own = run.hparams?.[key];
        if (own !== undefined) return own;
        const cell = this.cell(key, run.id);
        return cell ? toNumber(cell.last) : undefined;
      }
    }
  }

  private sorted(runs: Run[]): Run[] {
    const sort = view.sort;
    if (sort === '') return runs;
    return sortedBy(runs, (run) => (sort === 'name' ? this.nameOf(run) : this.table.value(sort, run)), view.descending);
  }

  /** The better side first, then the other, then none. */
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

  /** Only the best so many: by the order there is, else by the first metric of the table. */
  showTop(n: number): void {
    view.top = n;
    if (n === 0 || partsOf(view.sort)) return;
    const metric = this.table.list.find((c) => c.startsWith('m:')) ?? (this.mainTag ? `m:last:${this.mainTag}` : 'i:start');
    view.sort = metric;
    view.descending = bestIsHigh(metric);
  }

  // ---- groups and folders ----

  groupOf(run: Run): string {
    return this.keyOf(run, view.group);
  }
  keyOf(run: Run, by: string): string {
    return keyOf(run, by, this.notes.get(run.name).tags);
  }

  // the tree's shape follows from names only; it is kept while they stay the same, whatever else is new
  private names: string[] = [];
  private shape = { tree: treeOf([]), order: new Float64Array() };
  private shapeOf(runs: Run[]) {
    if (runs.length !== this.names.length || runs.some((run, i) => run.name !== this.names[i])) {
      this.names = runs.map((run) => run.name);
      const order = new Float64Array(runs.length);
      this.names.map((_, i) => i).sort((a, b) => naturalCompare(this.names[a], this.names[b])).forEach((at, place) => (order[at] = place));
      this.shape = { tree: treeOf(this.names), order };
    }
    return this.shape;
  }

  rows = $derived.by((): Row[] => {
    if (view.group === 'tree') return this.treeRows();
    if (view.group === '') return this.matching.map((run) => this.runRow(run, splitTag(this.nameOf(run)), 1));
    const groups = grouped(this.matching, (run) => this.groupOf(run));
    const keys = [...groups.keys()];
    if (view.sort === '') keys.sort(compareKeys);
    const rows: Row[] = [];
    for (const key of keys) {
      const runs = groups.get(key) ?? [];
      const open = !view.isFolded(key);
      rows.push({ kind: 'group', key, label: key, level: 1, runs, open, folder: '', colourKey: key });
      if (!open) continue;
      for (const run of runs) {
        const name = splitTag(this.nameOf(run));
        rows.push(this.runRow(run, view.group === 'path' ? ['', name[1]] : name, 2));
      }
    }
    return rows;
  });

  private runRow(run: Run, [folder, label]: [string, string], level: number): RunRow {
    return { kind: 'run', run, folder, label, level };
  }

  private treeRows(): Row[] {
    const all = this.listed;
    const { tree, order } = this.shapeOf(all);
    const rank = new Float64Array(all.length).fill(-1);
    const at = new Map(all.map((run, i) => [run.id, i]));
    this.matching.forEach((run, place) => {
      const i = at.get(run.id) ?? 0;
      rank[i] = view.sort === '' ? order[i] : place;
    });
    return rowsOf(tree, rank, (key) => !view.isFolded(key)).map(({ node, level, open, members, whole }): Row => {
      if (node.leaf < 0) {
        const colourKey = node.children.some((child) => child.leaf >= 0 && !child.label.includes('/')) ? node.key.slice(0, -1) : null;
        return { kind: 'group', key: node.key, label: node.label, level, runs: members.map((i) => all[i]), open, folder: whole ? node.key : '', colourKey };
      }
      const run = all[node.leaf];
      return this.runRow(run, ['', this.notes.get(run.name).name ?? node.label], level);
    });
  }

  foldAll(shut: boolean): void {
    view.allFolded = shut;
    view.folded = new Set();
  }

  // ---- colours ----

  colourOf(run: Run): string {
    const pair = this.pairOf(run);
    return settings.dark ? pair.dark : pair.light;
  }
  colourOfGroup(key: string, by = view.group): string {
    const pair = this.pairOfGroup(key, by);
    return settings.dark ? pair.dark : pair.light;
  }
  /** By which groups runs are coloured; "" when each has its own. */
  get colourBy(): string {
    return view.colour === 'group' ? view.group : view.colour === 'run' ? '' : view.colour;
  }
  /** The run of training that this one validates, while such pairs are shown as one. */
  trainingOf(run: Run): Run | undefined {
    const name = view.pair ? trainingRun(run.name) : null;
    return name === null ? undefined : this.named.get(name);
  }
  couldPair(run: Run): boolean {
    const name = trainingRun(run.name);
    return name !== null && this.named.has(name);
  }
  private readonly named = $derived(new Map(hub.runs.map((run) => [run.name, run])));
  private pairOf(run: Run): Colour {
    const chosen = this.notes.get(run.name).colour;
    if (chosen !== undefined) return pairFrom(chosen);
    const trained = this.trainingOf(run);
    if (trained) return this.pairOf(trained);
    const by = this.colourBy;
    return by ? this.pairOfGroup(this.keyOf(run, by), by) : this.runColours.of(run.name);
  }
  private pairOfGroup(key: string, by: string): Colour {
    const chosen = this.notes.colourOfGroup(key);
    return chosen === undefined ? this.coloursBy(by).of(key) : pairFrom(chosen);
  }
  // colours are given in the order of all runs, not of those that happen to be asked for: a link that filters or sorts
  // shows the same colours
  private readonly runColours = $derived.by(() => {
    for (const run of hub.runs) this.givenToRuns.of(run.name);
    return this.givenToRuns;
  });
  private coloursBy(by: string): Colours {
    let colours = this.givenToGroups.get(by);
    if (!colours) {
      colours = new Colours();
      if (this.givenToGroups.size > 100) this.givenToGroups.clear();
      this.givenToGroups.set(by, colours);
      const keys = new Set(untrack(() => hub.runs.map((run) => this.keyOf(run, by))));
      for (const key of [...keys].sort(compareKeys)) colours.of(key);
    }
    return colours;
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
    return this.metrics.cell(tag, run);
  }

  /** Inside an effect: keeps the numbers that the table, its filters and its order need up to date. */
  follow(): void {
    $effect(() => {
      const tags = new Set(this.table.wanted([view.sort, ...view.where.keys()]));
      for (const word of view.runFilter.matchAll(/([\w./-]+)\s*[<>=!]/g)) if (hub.tags.some((tag) => tag.tag === word[1])) tags.add(word[1]);
      this.metrics.want([...tags]);
    });
  }

  // ---- what is drawn ----

  shown = $derived(this.matching.filter((run) => this.isShown(run)));

  isShown(run: Run): boolean {
    return view.only ? covers(view.only, run.name) : !covers(view.hidden, run.name);
  }

  toggle(run: Run): void {
    this.setShown([run], !this.isShown(run));
  }
  /** A folder's word stands for its runs where there is one. */
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
