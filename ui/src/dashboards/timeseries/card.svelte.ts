// The data of one card: asks for the points of its tag for the runs that are shown, at the width it has, keeps what did
// not change, and makes lines of it. A zoomed card asks for its range only; smoothing is done by the server over all
// points. When news comes only series that grew are sent again.
import { untrack } from 'svelte';
import {
  api,
  direction,
  hub,
  NO_BASELINE,
  NOT_FOUND,
  runs,
  settings,
  t,
  UNCHANGED,
  view,
  type Band,
  type Line,
  type Run,
  type ScalarsAsk,
  type Spread,
  type Series,
} from '../../public';
import { EMPTY, envelopeOf, smoothingAsk, xOf } from './series';

const LIVE_EVERY_MS = 200;
const SETTLE_MS = 25;

export interface CardInfo {
  runs: number;
  groups: number; // of bands; 0: lines of runs
  points: number;
  total: number;
  bad: number;
  without: number; // runs that have nothing to be compared with
  best: { name: string; value: number } | null;
}

interface BandsWanted {
  spread: Spread;
  center: 'mean' | 'median';
  revealed: ReadonlySet<string>; // groups whose runs are wanted too
}

export class CardData {
  width = $state(0);
  pointed = $state(false); // somebody looked closer: times are wanted also of very many runs
  state = $state<'waiting' | 'ready' | 'failed'>('waiting');
  error = $state('');
  /** The part of x that `lines` are of; undefined: all of it. */
  loadedRange = $state.raw<[number, number] | undefined>(undefined);
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

  private smoothing = $derived.by(() => {
    const { kind, weight } = view.smoothingOf(this.tag);
    return smoothingAsk(kind, weight);
  });

  /** What every question about this card's lines has in common, so that its numbers are those of what is drawn. */
  basis = $derived.by((): Pick<ScalarsAsk, 'x' | 'smoothing' | 'compare'> => ({ x: view.x, smoothing: this.smoothing, compare: this.compare }));

  /** With which run the others are compared; bands are never. */
  baseline = $derived.by((): Run | null => {
    if (view.baseline === '' || view.compare === 'off' || (view.bands !== 'off' && view.group !== '')) return null;
    return hub.runs.find((run) => run.name === view.baseline) ?? null;
  });
  /** What y is, where that is not the tag's value. */
  yTitle = $derived(this.baseline ? t(view.compare === 'ratio' ? 'base.ratioTo' : 'base.differenceFrom', { name: runs.nameOf(this.baseline) }) : '');
  private compare = $derived(this.baseline && view.compare !== 'off' ? { run: this.baseline.id, kind: view.compare } : undefined);

  /** Whose a line is, by its key; bands, which are of many, are nobody's. */
  sources = $derived.by(() => new Map(this.series.map(({ run }) => [run.name, { run, tag: this.tag }])));

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
        columns: ['step', 'value', ...(smoothing.kind === 'none' ? [] : (['smooth'] as const)), ...(many && x === 'step' ? [] : (['wall'] as const)), ...(view.envelope && smoothing.kind !== 'none' ? (['flags'] as const) : [])],
      };
      const banded = view.bands !== 'off' && view.group !== '';
      const bands = { spread: view.bands, center: view.center, revealed: view.revealed };
      if (this.width === 0) return;
      untrack(() => this.soon(SETTLE_MS, () => this.load(ask, members, banded ? bands : null)));
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

  private async load(ask: Omit<ScalarsAsk, 'series'>, members: Run[], bands: BandsWanted | null): Promise<void> {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    this.askedAt = Date.now();
    if (bands && bands.spread !== 'off') {
      if (!(await this.loadBands(ask, members, bands.spread, bands.center, asking))) return;
      members = members.filter((run) => bands.revealed.has(runs.groupOf(run)));
      if (members.length === 0) {
        this.series = [];
        return;
      }
    } else this.bands = null;
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
    this.loadedRange = ask.range;
    this.state = 'ready';
    this.error = '';
  }

  private async loadBands(ask: Omit<ScalarsAsk, 'series'>, members: Run[], spread: Exclude<Spread, 'off'>, center: 'mean' | 'median', asking: AbortController): Promise<boolean> {
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
      { x, width, range, smoothing, center, spread, groups: [...groups].map(([key, series]) => ({ key, series })) },
      asking.signal,
    );
    if (asking.signal.aborted) return false;
    if (!reply.ok) {
      this.error = reply.error.message;
      if (!this.bands) this.state = 'failed';
      return false;
    }
    this.bands = { keys: [...groups.keys()], bands: reply.value };
    this.loadedRange = range;
    this.state = 'ready';
    return true;
  }

  lines = $derived.by((): Line[] => {
    void settings.dark;
    const own = this.series.map(({ run, data }) => this.lineOf(run, data));
    return this.bands ? [...this.bandLines(this.bands), ...own.map((line, i) => ({ ...line, raw: null, faint: true, colour: runs.colourOfGroup(runs.groupOf(this.series[i].run)) }))] : own;
  });

  private lineOf(run: Run, data: Series): Line {
    const smooth = this.smoothing.kind === 'none' ? null : data.smooth;
    const x = xOf(view.x, data);
    return {
      key: run.name,
      name: runs.nameOf(run),
      colour: runs.colourOf(run),
      x,
      y: smooth ?? data.value ?? EMPTY,
      raw: smooth ? data.value : null,
      envelope: smooth && view.envelope ? envelopeOf(x, data.value, data.flagsOf) : null,
      step: data.step,
      wall: data.wall,
      firstWall: data.firstWall,
      live: run.state === 'running',
    };
  }

  private bandLines({ keys, bands }: { keys: string[]; bands: Band[] }): Line[] {
    return bands.map((band) => ({
      key: `\n${keys[band.group]}`, // no run is called so
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
    let without = 0;
    let best: CardInfo['best'] = null;
    const wanted = this.compare ? null : direction(this.tag);
    for (const { run, data } of this.bands ? [] : this.series) {
      points += data.points;
      total += view.zoom.get(this.tag)?.x ? data.inRange : data.n;
      bad += data.bad;
      if (data.flags & NO_BASELINE) without++;
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
    return { runs: this.members.length, groups: this.bands?.keys.length ?? 0, points, total: Math.max(total, points), bad, without, best };
  });
}
