// Which runs there are for the viewer: filtered, grouped, sorted, hidden, coloured; and the numbers of the table's
// columns. One instance, used by the panel and by every dashboard.
import { Colours, PALETTE, type Colour } from '../base/colours';
import { parseFilter, type Predicate } from '../base/filter';
import { naturalCompare } from '../base/natural';
import { api } from '../data/api';
import { hub } from '../data/hub.svelte';
import { toNumber, type Cell, type Run } from '../data/types';
import { settings } from './settings.svelte';
import { view } from './view.svelte';

export interface RunNote {
  name?: string;
  note?: string;
  archived?: boolean;
  colour?: number;
}
export type Row = { kind: 'group'; key: string; runs: Run[]; open: boolean } | { kind: 'run'; run: Run; inGroup: boolean };

const SUMMARY_EVERY_MS = 1500;
const FIRST_SUMMARY_MS = 150;
const BETTER_LOW = /loss|error|err\b|perplexity|ppl|mse|mae|rmse|nll|fid|wer|cer|latency|divergence|regret/i;
const BETTER_HIGH = /acc|auc|f1|bleu|rouge|reward|return|score|\bmap\b|iou|precision|recall|top-?\d|psnr|ssim|r2|dice|throughput|per_s(ec)?\b/i;

/** Is less better, or more? null: nobody knows. */
export function direction(tag: string): 'min' | 'max' | null {
  if (BETTER_LOW.test(tag)) return 'min';
  return BETTER_HIGH.test(tag) ? 'max' : null;
}

export class RunsModel {
  private readonly runColours = new Colours();
  private readonly groupColours = new Colours();
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

  notes = $derived.by(() => {
    const notes = new Map<string, RunNote>();
    for (const [key, value] of Object.entries(hub.people))
      if (key.startsWith('run/') && value && typeof value === 'object') notes.set(key.slice(4), value as RunNote);
    return notes;
  });

  nameOf(run: Run): string {
    return this.notes.get(run.name)?.name || run.name;
  }

  /** Those that pass the filter, in order. */
  matching = $derived.by(() => {
    const wantsArchived = /\barchived[:=]/.test(view.runFilter);
    const passes = this.predicate;
    const found = hub.runs.filter(
      (run) => (wantsArchived || !this.notes.get(run.name)?.archived) && passes({ name: this.nameOf(run), get: (key) => this.value(run, key) }),
    );
    return this.sorted(found);
  });
  archived = $derived(hub.runs.reduce((n, run) => n + (this.notes.get(run.name)?.archived ? 1 : 0), 0));

  /** Those that are drawn. */
  shown = $derived(this.matching.filter((run) => this.isShown(run)));

  isShown(run: Run): boolean {
    return view.only ? view.only.has(run.name) : !view.hidden.has(run.name);
  }

  value(run: Run, key: string): string | number | boolean | undefined {
    switch (key) {
      case 'state':
        return run.state;
      case 'name':
        return run.name;
      case 'points':
        return run.points;
      case 'archived':
        return this.notes.get(run.name)?.archived ? 'yes' : 'no';
      case 'note':
        return this.notes.get(run.name)?.note;
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

  // ---- groups ----

  groupOf(run: Run): string {
    return this.keyOf(run, view.group);
  }

  private readonly regexes = new Map<string, RegExp | null>();

  keyOf(run: Run, by: string): string {
    if (by === '') return '';
    if (by === 'path') {
      const at = run.name.lastIndexOf('/');
      return at < 0 ? '.' : run.name.slice(0, at);
    }
    if (by.startsWith('hparam:')) return String(run.hparams?.[by.slice(7)] ?? '–');
    if (by.startsWith('regex:')) {
      let regex = this.regexes.get(by);
      if (regex === undefined) {
        try {
          regex = new RegExp(by.slice(6));
        } catch {
          regex = null;
        }
        this.regexes.set(by, regex);
      }
      const found = regex?.exec(run.name);
      if (!found) return '–';
      return found.length > 1 ? found.slice(1).map((part) => part ?? '').join(' ') : found[0];
    }
    return '';
  }

  rows = $derived.by((): Row[] => {
    if (view.group === '') return this.matching.map((run) => ({ kind: 'run', run, inGroup: false }));
    const groups = new Map<string, Run[]>();
    for (const run of this.matching) {
      const key = this.groupOf(run);
      const list = groups.get(key);
      if (list) list.push(run);
      else groups.set(key, [run]);
    }
    const rows: Row[] = [];
    const keys = [...groups.keys()];
    if (view.sort === '') keys.sort(naturalCompare);
    for (const key of keys) {
      const runs = groups.get(key) ?? [];
      const open = !view.folded.has(key);
      rows.push({ kind: 'group', key, runs, open });
      if (open) for (const run of runs) rows.push({ kind: 'run', run, inGroup: true });
    }
    return rows;
  });

  // ---- colours ----

  colourOf(run: Run): string {
    const pair = this.pairOf(run);
    return settings.dark ? pair.dark : pair.light;
  }
  colourOfGroup(key: string): string {
    const pair = this.groupColours.of(key);
    return settings.dark ? pair.dark : pair.light;
  }
  private pairOf(run: Run): Colour {
    const chosen = this.notes.get(run.name)?.colour;
    if (chosen !== undefined && PALETTE[chosen]) return PALETTE[chosen];
    if (view.colour === 'group' && view.group) return this.groupColours.of(this.groupOf(run));
    if (view.colour.startsWith('hparam:')) return this.groupColours.of(this.keyOf(run, view.colour));
    return this.runColours.of(run.name);
  }

  // ---- columns ----

  hparams = $derived.by(() => {
    const values = new Map<string, Set<string>>();
    for (const run of hub.runs)
      for (const [name, value] of Object.entries(run.hparams ?? {})) {
        const set = values.get(name);
        if (set) set.add(String(value));
        else values.set(name, new Set([String(value)]));
      }
    return [...values].map(([name, set]) => ({ name, differs: set.size > 1 })).sort((a, b) => naturalCompare(a.name, b.name));
  });

  /** "m:min:TAG", "h:NAME", "i:duration": those chosen, else what most people want to see first. */
  columns = $derived.by((): string[] => {
    if (view.columns) return view.columns;
    const columns: string[] = [];
    const tag = this.mainTag;
    if (tag) columns.push(`m:${direction(tag) ?? 'last'}:${tag}`);
    for (const hparam of this.hparams.filter((h) => h.differs).slice(0, 1)) columns.push(`h:${hparam.name}`);
    return columns;
  });

  mainTag = $derived.by(() => {
    const tags = hub.tags.filter((tag) => tag.plugin === 'scalars').map((tag) => tag.tag);
    const find = (pattern: RegExp) => tags.find((tag) => pattern.test(tag));
    return find(/(^|\/)(val|valid|validation|eval|test)[^]*loss/i) ?? find(/loss/i) ?? find(BETTER_HIGH) ?? tags[0] ?? '';
  });

  private cells = $state.raw<Map<string, Map<number, Cell>>>(new Map());
  private askedAt = 0;
  private asking: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  cell(tag: string, run: number): Cell | undefined {
    return this.cells.get(tag)?.get(run);
  }

  /** The number in a metric column. */
  metric(column: string, run: Run): { value: number; step: number } | null {
    const [, what, ...rest] = column.split(':');
    const cell = this.cell(rest.join(':'), run.id);
    if (!cell) return null;
    if (what === 'min') return { value: toNumber(cell.min), step: toNumber(cell.minStep) };
    if (what === 'max') return { value: toNumber(cell.max), step: toNumber(cell.maxStep) };
    return { value: toNumber(cell.last), step: toNumber(cell.lastStep) };
  }

  cellText(column: string, run: Run): number | string | null {
    if (column.startsWith('m:')) return this.metric(column, run)?.value ?? null;
    if (column.startsWith('h:')) {
      const value = run.hparams?.[column.slice(2)];
      return value === undefined ? null : typeof value === 'boolean' ? String(value) : value;
    }
    if (column === 'i:start') return run.start;
    if (column === 'i:duration') return run.start !== null && run.last !== null ? run.last - run.start : null;
    return column === 'i:points' ? run.points : null;
  }

  /** Inside an effect: asks for the summaries of the metric columns, again when there is news. */
  follow(): void {
    $effect(() => {
      void hub.changed;
      if (!hub.ready) return;
      const tags = [...new Set(this.columns.filter((c) => c.startsWith('m:')).map((c) => c.split(':').slice(2).join(':')))];
      for (const word of view.runFilter.matchAll(/([\w./-]+)\s*[<>=!]/g))
        if (hub.tags.some((tag) => tag.tag === word[1]) && !tags.includes(word[1])) tags.push(word[1]);
      if (tags.length === 0) return;
      clearTimeout(this.timer);
      const isNew = tags.some((tag) => !this.askedFor.has(tag));
      // the first time after the charts have asked: they are what people wait for
      this.timer = setTimeout(() => void this.load(tags), isNew ? (this.askedAt ? 0 : FIRST_SUMMARY_MS) : Math.max(0, this.askedAt + SUMMARY_EVERY_MS - Date.now()));
    });
  }
  private askedFor = new Set<string>();

  private async load(tags: string[]): Promise<void> {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    this.askedAt = Date.now();
    this.askedFor = new Set(tags);
    const reply = await api.summaries(tags, undefined, asking.signal);
    if (!reply.ok || asking.signal.aborted) return;
    const cells = new Map<string, Map<number, Cell>>();
    reply.value.tags.forEach((tag, i) => {
      const byRun = new Map<number, Cell>();
      reply.value.runs.forEach((run, k) => {
        const cell = reply.value.cells[i][k];
        if (cell) byRun.set(run, cell);
      });
      cells.set(tag, byRun);
    });
    this.cells = cells;
  }

  private sorted(runs: Run[]): Run[] {
    const sort = view.sort;
    if (sort === '') return runs;
    const sign = view.descending ? -1 : 1;
    if (sort === 'name') return [...runs].sort((a, b) => sign * naturalCompare(this.nameOf(a), this.nameOf(b)));
    const keyed = runs.map((run) => ({ run, v: this.cellText(sort, run) }));
    keyed.sort((a, b) => {
      if (a.v === null || b.v === null) return a.v === b.v ? 0 : a.v === null ? 1 : -1;
      if (typeof a.v === 'number' && typeof b.v === 'number') {
        if (Number.isNaN(a.v) || Number.isNaN(b.v)) return Number(Number.isNaN(a.v)) - Number(Number.isNaN(b.v));
        return sign * (a.v - b.v);
      }
      return sign * naturalCompare(String(a.v), String(b.v));
    });
    return keyed.map((k) => k.run);
  }

  sortBy(column: string): void {
    if (view.sort !== column) {
      view.sort = column;
      view.descending = column.startsWith('m:max');
    } else if (view.descending === column.startsWith('m:max')) view.descending = !view.descending;
    else {
      view.sort = '';
      view.descending = false;
    }
  }

  // ---- selection ----

  toggle(run: Run): void {
    if (view.only) {
      const only = new Set(view.only);
      if (!only.delete(run.name)) only.add(run.name);
      view.only = only;
      return;
    }
    view.toggle('hidden', run.name);
  }
  solo(runs: Run[]): void {
    const already = view.only?.size === runs.length && runs.every((run) => view.only?.has(run.name));
    view.only = already ? null : new Set(runs.map((run) => run.name));
    view.hidden = new Set();
  }
  showAll(): void {
    view.only = null;
    view.hidden = new Set();
  }
  showNone(): void {
    view.only = new Set();
    view.hidden = new Set();
  }
  toggleGroup(runs: Run[]): void {
    const anyShown = runs.some((run) => this.isShown(run));
    if (view.only) {
      const only = new Set(view.only);
      for (const run of runs) if (anyShown) only.delete(run.name);
      else only.add(run.name);
      view.only = only;
      return;
    }
    const hidden = new Set(view.hidden);
    for (const run of runs) if (anyShown) hidden.add(run.name);
    else hidden.delete(run.name);
    view.hidden = hidden;
  }

  note(run: Run, change: RunNote): void {
    const now: RunNote = { ...this.notes.get(run.name), ...change };
    for (const key of Object.keys(now) as (keyof RunNote)[]) if (now[key] === undefined || now[key] === '' || now[key] === false) delete now[key];
    void hub.remember({ [`run/${run.name}`]: Object.keys(now).length ? now : null });
  }
}

export const runs = new RunsModel();
