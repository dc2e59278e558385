// The data of one card: asks for the points of its tags for the runs that are shown, at the width it has, keeps what did
// not change, and makes lines of it. A zoomed card asks for its range only; smoothing is done by the server over all
// points. When news comes only series that grew are sent again.
import { untrack } from 'svelte';
import {
  api,
  hub,
  NOT_FOUND,
  UNCOMPARED,
  runs,
  settings,
  t,
  UNCHANGED,
  view,
  type Band,
  type Line,
  type Run,
  type ScalarsAsk,
  type Series,
  type Spread,
  xAsk,
  xWhat,
  metricOf,
} from '../../public';
import { tagsOf } from './combined';
import { infoOf, type CardInfo } from './info';
import { bandLine, keyOf, seriesLines, type Look, type Source } from '../../rooms/lines/lines';
import { smoothingAsk } from '../../rooms/lines/series';

const LIVE_EVERY_MS = 200;
const SETTLE_MS = 25;
const NEAR = { number: 1, relative: 0.001, wall: undefined }; // a step; a millisecond

type Ask = Omit<ScalarsAsk, 'series'>;
interface BandsWanted {
  spread: Exclude<Spread, 'off'>;
  center: 'mean' | 'median';
  revealed: ReadonlySet<string>; // groups whose runs are wanted too
  groups: ReadonlyMap<string, Source[]>;
}
export interface Loaded extends Source {
  data: Series;
}

export class CardData {
  width = $state(0);
  pointed = $state(false); // somebody looked closer: times are wanted also of very many runs
  state = $state<'waiting' | 'ready' | 'failed'>('waiting');
  error = $state('');
  /** The part of x that `lines` are of; undefined: all of it. */
  loadedRange = $state.raw<[number, number] | undefined>(undefined);
  private series = $state.raw<Loaded[]>([]);
  private bands = $state.raw<{ keys: string[]; bands: Band[] } | null>(null);
  private have = new Map<string, Series>();
  private haveKey = '';
  private asking: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private askedAt = 0;
  private seen = 0;

  constructor(readonly tag: string) {}

  /** its own value: a zoom of another card asks nothing here */
  private readonly zoomX = $derived.by(() => view.zoomXOf(this.tag));

  private own: string[] | undefined;
  get tags(): string[] {
    return (this.own ??= untrack(() => tagsOf(this.tag, (name) => hub.tags.some((known) => known.tag === name))));
  }

  /** Every line that there is to draw: shown runs that have the tag, tag by tag. */
  private wanted = $derived.by((): Source[] =>
    this.tags.flatMap((name, at): Source[] => {
      const tag = hub.tags.find((known) => known.tag === name);
      if (!tag) return [];
      const has = tag.runs === 'all' ? null : new Set(tag.runs);
      return runs.shown.filter((run) => !has || has.has(run.id)).map((run) => ({ run, tag: name, at }));
    }),
  );

  /** Shown runs that have one of these tags. */
  members = $derived.by((): Run[] =>
    this.tags.length === 1 ? this.wanted.map(({ run }) => run) : [...new Set(this.wanted.map(({ run }) => run))],
  );

  private smoothing = $derived.by(() => {
    const { kind, weight } = view.smoothingOf(this.tag);
    return smoothingAsk(kind, weight);
  });

  /** What every question about this card's lines has in common, so that its numbers are those of what is drawn. */
  basis = $derived.by((): Pick<ScalarsAsk, 'x' | 'smoothing' | 'compare'> => ({
    x: xAsk(view.x),
    smoothing: this.smoothing,
    compare: this.compare,
  }));

  private banded = $derived(view.bands !== 'off' && view.group !== '' && this.tags.length === 1);

  /** What the bands are of; follows the grouping, also when the same runs are grouped anew. */
  private groups = $derived.by(() => {
    const groups = new Map<string, Source[]>();
    for (const source of this.banded ? this.wanted : []) {
      const key = runs.groupOf(source.run);
      const members = groups.get(key);
      if (members) members.push(source);
      else groups.set(key, [source]);
    }
    return groups;
  });

  /** With which run the others are compared; bands along another metric are not. */
  baseline = $derived.by((): Run | null => {
    if (view.baseline === '' || view.compare === 'off' || (this.banded && metricOf(view.x) !== null)) return null;
    return hub.runs.find((run) => run.name === view.baseline) ?? null;
  });
  /** What y is, where that is not the tag's value. */
  yTitle = $derived(
    this.baseline
      ? t(view.compare === 'ratio' ? 'base.ratioTo' : 'base.differenceFrom', { name: runs.nameOf(this.baseline) })
      : '',
  );
  private compare = $derived(
    this.baseline && view.compare !== 'off' ? { run: this.baseline.id, kind: view.compare } : undefined,
  );

  /** Whose a line is, by its key; bands, which are of many, are nobody's, as are parts of a run. */
  sources = $derived.by(() => new Map(this.series.map((source) => [keyOf(source, this.tags), source])));

  /** Inside an effect. */
  follow(): void {
    $effect(() => {
      const { smoothing } = this.basis;
      const x = view.x;
      const metric = metricOf(x);
      const wanted = this.wanted;
      const many = wanted.length > 60 && !this.pointed;
      const split = view.attempts || view.partition;
      const columns: ScalarsAsk['columns'] = ['step', 'value'];
      if (smoothing.kind !== 'none') columns.push('smooth');
      if (!many || xWhat(x) !== 'number') columns.push('wall');
      if (metric !== null) columns.push('x');
      if (view.envelope && smoothing.kind !== 'none') columns.push('flags');
      // relative x within a part counts from its own start, which the server's range does not
      const range = split && (x === 'relative' || x === 'step_relative') ? undefined : (this.zoomX ?? undefined);
      // on a log axis pixels are no even parts of x; twice as many, since where it turns linear depends on the data
      const isLog = view.xScale !== 'linear' && x !== 'wall';
      const near = isLog && metric === null ? NEAR[xWhat(x)] : undefined;
      const ask: Ask = {
        ...this.basis,
        width: isLog ? this.width * 2 : this.width,
        range,
        near,
        superseded: view.attempts || undefined,
        columns,
      };
      const spread = view.bands;
      const bands =
        this.banded && spread !== 'off'
          ? { spread, center: view.center, revealed: view.revealed, groups: this.groups }
          : null;
      if (this.width === 0) return;
      untrack(() => this.soon(SETTLE_MS, () => void this.load(ask, wanted, bands)));
      return () => clearTimeout(this.timer);
    });
    $effect(() => {
      const { version, tags } = hub.changed;
      if (version === this.seen || this.width === 0) return;
      this.seen = version;
      const metric = metricOf(view.x);
      if (tags && !this.tags.some((tag) => tags.has(tag)) && !(metric !== null && tags.has(metric))) return;
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

  private async load(ask: Ask, wanted: Source[], bands: BandsWanted | null): Promise<void> {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    this.askedAt = Date.now();
    if (bands) {
      if (!(await this.loadBands(ask, bands, asking))) return;
      wanted = [...bands.groups].flatMap(([key, members]) => (bands.revealed.has(key) ? members : []));
      if (wanted.length === 0) {
        this.series = [];
        return;
      }
    } else this.bands = null;
    const key = JSON.stringify(ask);
    if (key !== this.haveKey) this.have = new Map();
    const had = this.have;
    const nameOf = ({ run, at }: Source) => `${run.id} ${at}`;
    const series = wanted.map((source) => {
      const has = had.get(nameOf(source));
      return { run: source.run.id, tag: source.tag, epoch: has?.epoch, n: has?.n };
    });
    const reply = await api.scalars({ ...ask, series }, asking.signal);
    if (asking.signal.aborted) return;
    if (!reply.ok) {
      this.error = reply.error.message;
      if (this.series.length === 0) this.state = 'failed';
      return;
    }
    const now = new Map<string, Series>();
    const loaded: Loaded[] = [];
    reply.value.series.forEach((entry, i) => {
      const source = wanted[i];
      const data = entry.flags & UNCHANGED ? had.get(nameOf(source)) : entry;
      if (!data || entry.flags & NOT_FOUND) return;
      now.set(nameOf(source), data);
      loaded.push({ ...source, data });
    });
    this.have = now;
    this.haveKey = key;
    this.series = loaded;
    this.loadedRange = ask.range;
    this.state = 'ready';
    this.error = '';
  }

  private async loadBands(
    ask: Ask,
    { spread, center, groups }: BandsWanted,
    asking: AbortController,
  ): Promise<boolean> {
    const { x, width, range, near, smoothing, compare } = ask;
    const reply = await api.bands(
      {
        x,
        width,
        range,
        near,
        smoothing,
        compare,
        center,
        spread,
        groups: [...groups].map(([key, members]) => ({
          key,
          series: members.map(({ run, tag }) => ({ run: run.id, tag })),
        })),
      },
      asking.signal,
    );
    if (asking.signal.aborted) return false;
    if (!reply.ok) {
      const metric = metricOf(view.x);
      const falls = metric !== null && reply.error.code === 'invalid';
      this.error = falls ? t('bands.falls', { tag: metric }) : reply.error.message;
      if (falls) {
        this.bands = null;
        this.series = [];
      }
      if (!this.bands) this.state = 'failed';
      return false;
    }
    this.bands = { keys: [...groups.keys()], bands: reply.value };
    this.loadedRange = range;
    this.state = 'ready';
    this.error = '';
    return true;
  }

  lines = $derived.by((): Line[] => {
    void settings.dark;
    const look: Look = {
      x: view.x,
      smooth: this.smoothing.kind !== 'none',
      envelope: view.envelope,
      tags: this.tags,
      right: view.rightAxis.has(this.tag),
      split: view.attempts || view.partition,
    };
    if (!this.bands) return seriesLines(this.series, look);
    const { keys, bands } = this.bands;
    const members = seriesLines(this.series, { ...look, split: false }).map((line, i) => ({
      ...line,
      raw: null,
      faint: true,
      colour: runs.colourOfGroup(runs.groupOf(this.series[i].run)),
    }));
    return [...bands.map((band) => bandLine(keys[band.group], band, view.x)), ...members];
  });

  /** runs in groups that have nothing to be compared with */
  private uncompared = $derived.by(() => {
    let n = 0;
    for (const band of this.bands?.bands ?? []) if (band.flags & UNCOMPARED) n += band.members;
    return n;
  });

  info = $derived.by((): CardInfo =>
    infoOf(this.bands ? [] : this.series, {
      runs: this.members.length,
      groups: this.bands?.keys.length ?? 0,
      without: this.uncompared,
      isZoomed: this.loadedRange !== undefined,
      tags: this.tags,
      isCompared: this.baseline !== null,
    }),
  );
}
