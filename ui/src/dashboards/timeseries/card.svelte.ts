// The data of one card: asks for the points of its tag for the runs that are shown, at the width it has, keeps what did
// not change, and makes lines of it. A zoomed card asks for its range only; smoothing is done by the server over all
// points. When news comes only series that grew are sent again.
import { untrack } from 'svelte';
import {
  api,
  direction,
  hub,
  NOT_FOUND,
  runs,
  settings,
  UNCHANGED,
  view,
  type Band,
  type Line,
  type Run,
  type ScalarsAsk,
  type Series,
  type Smoothing,
} from '../../public';

const LIVE_EVERY_MS = 200;
const SETTLE_MS = 25;
const EMPTY = new Float64Array(0);

export interface CardInfo {
  runs: number;
  groups: number; // of bands; 0: lines of runs
  points: number;
  total: number;
  bad: number;
  best: { name: string; value: number } | null;
}

export function smoothingOf(kind: Smoothing['kind'], weight: number): Smoothing {
  if (weight <= 0) return { kind: 'none' };
  if (kind === 'ema' || kind === 'time_ema') return { kind, weight };
  // as many points as an average of that weight looks back on
  return { kind, points: Math.max(1, Math.round(2 / (1 - weight)) - 1) };
}

export class CardData {
  width = $state(0);
  pointed = $state(false); // somebody looked closer: times are wanted also of very many runs
  state = $state<'waiting' | 'ready' | 'failed'>('waiting');
  error = $state('');
  private series = $state.raw<{ run: Run; data: Series }[]>([]);
  private bands = $state.raw<{ keys: string[]; bands: Band[] } | null>(null);
  private have = new Map<number, Series>();
  private haveKey = '';
  private asking: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private askedAt = 0;
  private seen = 0;

  constructor(readonly tag: string) {}

  /** Shown runs that have this tag. */
  members = $derived.by((): Run[] => {
    const tag = hub.tags.find((t) => t.tag === this.tag);
    if (!tag) return [];
    if (tag.runs === 'all') return runs.shown;
    const has = new Set(tag.runs);
    return runs.shown.filter((run) => has.has(run.id));
  });

  /** What every question about this card's lines has in common, so that its numbers are those of what is drawn. */
  basis = $derived.by((): Pick<ScalarsAsk, 'x' | 'smoothing'> => ({ x: view.x, smoothing: smoothingOf(view.smoothKind, view.smoothing) }));

  /** Whose each of `lines` is; none for bands, which are of many. */
  sources = $derived.by((): { run: Run; tag: string }[] => (this.bands ? [] : this.series.map(({ run }) => ({ run, tag: this.tag }))));

  /** Inside an effect. */
  follow(): void {
    $effect(() => {
      const { x, smoothing } = this.basis;
      const members = this.members;
      const zoom = view.zoom.get(this.tag)?.x ?? undefined;
      const many = members.length > 60 && !this.pointed;
      const ask: Omit<ScalarsAsk, 'series'> = {
        ...this.basis,
        width: this.width,
        range: zoom,
        columns: ['step', 'value', ...(smoothing.kind === 'none' ? [] : (['smooth'] as const)), ...(many && x === 'step' ? [] : (['wall'] as const))],
      };
      const banded = view.bands !== 'off' && view.group !== '';
      const spread = view.bands;
      if (this.width === 0) return;
      untrack(() => this.soon(SETTLE_MS, () => this.load(ask, members, banded ? spread : 'off')));
      return () => clearTimeout(this.timer);
    });
    $effect(() => {
      const { version, tags } = hub.changed;
      if (version === this.seen || this.width === 0) return;
      this.seen = version;
      if (tags && !tags.has(this.tag)) return;
      untrack(() => this.again && this.soon(Math.max(0, this.askedAt + LIVE_EVERY_MS - Date.now()), this.again));
    });
    $effect(() => () => this.asking?.abort());
  }

  private again: (() => void) | null = null;

  private soon(wait: number, run: () => void): void {
    const isFirst = this.again === null;
    this.again = run;
    clearTimeout(this.timer);
    if (isFirst) run();
    else this.timer = setTimeout(run, wait);
  }

  private async load(ask: Omit<ScalarsAsk, 'series'>, members: Run[], spread: typeof view.bands): Promise<void> {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    this.askedAt = Date.now();
    if (spread !== 'off' && (await this.loadBands(ask, members, spread, asking))) return;
    if (asking.signal.aborted) return;
    this.bands = null;
    const key = JSON.stringify(ask);
    if (key !== this.haveKey) this.have = new Map();
    const had = this.have;
    const reply = await api.scalars(
      { ...ask, series: members.map((run) => ({ run: run.id, tag: this.tag, epoch: had.get(run.id)?.epoch, n: had.get(run.id)?.n })) },
      asking.signal,
    );
    if (asking.signal.aborted) return;
    if (!reply.ok) {
      this.error = reply.error.message;
      if (this.series.length === 0) this.state = 'failed';
      return;
    }
    const now = new Map<number, Series>();
    const series: { run: Run; data: Series }[] = [];
    reply.value.series.forEach((entry, i) => {
      if (entry.flags & NOT_FOUND) return;
      const data = entry.flags & UNCHANGED ? had.get(entry.run) : entry;
      if (!data) return;
      now.set(entry.run, data);
      series.push({ run: members[i], data });
    });
    this.have = now;
    this.haveKey = key;
    this.series = series;
    this.state = 'ready';
    this.error = '';
  }

  private async loadBands(ask: Omit<ScalarsAsk, 'series'>, members: Run[], spread: Exclude<typeof view.bands, 'off'>, asking: AbortController): Promise<boolean> {
    const groups = new Map<string, { run: number; tag: string }[]>();
    for (const run of members) {
      const key = runs.groupOf(run);
      const list = groups.get(key);
      const item = { run: run.id, tag: this.tag };
      if (list) list.push(item);
      else groups.set(key, [item]);
    }
    const { x, width, range, smoothing } = ask;
    const reply = await api.bands(
      { x, width, range, smoothing, center: 'mean', spread, groups: [...groups].map(([key, series]) => ({ key, series })) },
      asking.signal,
    );
    if (!reply.ok || asking.signal.aborted) return false;
    this.bands = { keys: [...groups.keys()], bands: reply.value };
    this.state = 'ready';
    return true;
  }

  lines = $derived.by((): Line[] => {
    if (this.bands) return this.bandLines(this.bands);
    const smooth = view.smoothing > 0;
    const x = view.x;
    void settings.dark;
    return this.series.map(({ run, data }) => ({
      key: run.name,
      name: runs.nameOf(run),
      colour: runs.colourOf(run),
      x: xOf(x, data),
      y: (smooth ? data.smooth : null) ?? data.value ?? EMPTY,
      raw: smooth && data.smooth ? data.value : null,
      step: data.step,
      wall: data.wall,
      firstWall: data.firstWall,
      live: run.state === 'running',
    }));
  });

  private bandLines({ keys, bands }: { keys: string[]; bands: Band[] }): Line[] {
    return bands.map((band) => ({
      key: keys[band.group],
      name: keys[band.group],
      colour: runs.colourOfGroup(keys[band.group]),
      x: band.x,
      y: band.centre,
      raw: null,
      step: view.x === 'step' ? band.x : null,
      wall: null,
      firstWall: NaN,
      live: false,
      band: band.members > 1 ? { low: band.low, high: band.high, count: band.count } : null,
    }));
  }

  info = $derived.by((): CardInfo => {
    let points = 0;
    let total = 0;
    let bad = 0;
    let best: CardInfo['best'] = null;
    const wanted = direction(this.tag);
    for (const { run, data } of this.bands ? [] : this.series) {
      points += data.points;
      total += view.zoom.get(this.tag)?.x ? data.inRange : data.n;
      bad += data.bad;
      if (!wanted || !data.value) continue;
      for (let i = 0; i < data.value.length; i++) {
        const v = data.value[i];
        if (Number.isFinite(v) && (best === null || (wanted === 'min' ? v < best.value : v > best.value))) best = { name: run.name, value: v };
      }
    }
    if (best) {
      const run = this.series.find((s) => s.run.name === best?.name)?.run;
      if (run) best = { ...best, name: runs.nameOf(run) };
    }
    return { runs: this.members.length, groups: this.bands?.keys.length ?? 0, points, total: Math.max(total, points), bad, best };
  });
}

function xOf(x: typeof view.x, data: Series): Float64Array {
  if (x === 'step') return data.step ?? EMPTY;
  if (!data.wall) return EMPTY;
  if (x === 'wall') return data.wall;
  const first = data.firstWall;
  return data.wall.map((w) => w - first);
}
