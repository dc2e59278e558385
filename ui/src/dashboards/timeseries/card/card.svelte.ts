// The data of one card: the points of its tags for the shown runs, decimated to the width of the card, as lines. A zoomed
// card requests only its range; the server computes the smoothing, from all points. LiveQuery keeps the answers up to
// date.
import {
  AHEAD,
  bandsQuestion,
  cardOf,
  hub,
  IN_SIGHT,
  LiveQuery,
  MEMBER_UNSMOOTHED,
  metricOf,
  runs,
  scalarsQuestion,
  seriesKey,
  settings,
  UNCOMPARED,
  view,
  xAsk,
  xWhat,
  type Bands,
  type Line,
  type Points,
  type Question,
  type Run,
  type ScalarsAsk,
  type Series,
  type Trouble,
} from '../../../public';
import { steps } from '../../../rooms/steps/steps.svelte';
import { infoOf, type CardInfo } from './info';
import { bandKey, bandLine, keyOf, partsOfBand, seriesLines, type Look, type Source } from '../../../rooms/lines/lines';
import { smoothingAsk } from '../../../rooms/lines/series';
import { ts } from '../view.svelte';
import { tt } from '../texts';

const SHORT = 20; // points: a smoothed line of so few points distorts more than it shows
const MOST_NAMED = 8; // most lines in a legend: for example four configurations, each with training and validation
const NEAR = { number: 1, relative: 0.001, wall: undefined }; // where a log axis becomes linear: 1 step, 1 ms

type Ask = Omit<ScalarsAsk, 'series'>;
export interface Loaded extends Source {
  data: Series;
}

const isSameRun = (a: Run, b: Run): boolean =>
  a === b ||
  (a.id === b.id &&
    a.name === b.name &&
    a.state === b.state &&
    JSON.stringify(a.hparams) === JSON.stringify(b.hparams));
/** Would the same lines be drawn? Run objects change with every point, but what a line shows of its run does not. */
const isSame = (a: readonly Source[], b: readonly Source[]): boolean =>
  a.length === b.length &&
  a.every((one, i) => one.tag === b[i].tag && one.at === b[i].at && isSameRun(one.run, b[i].run));

export class CardData {
  width = $state(0);
  pointed = $state(false); // the viewer has looked at the chart closely: times are requested even if there are very many runs
  private readonly points = new LiveQuery<Points>();
  private readonly bandsLive = new LiveQuery<Bands>();

  /** `tag` is the key of the card (base/address/card.ts). */
  constructor(readonly tag: string) {}

  /** a value of its own, so that a zoom of another card causes no request here */
  private readonly zoomX = $derived.by(() => ts.zoomXOf(this.tag));

  readonly tags = $derived.by(() => cardOf(this.tag).tags);

  /** All lines to be drawn: for each tag, the shown runs that have it. */
  private wanted = $derived.by((): Source[] => {
    const sources = this.tags.flatMap((name, at): Source[] => {
      const tag = hub.tags.find((known) => known.tag === name && known.plugin === 'scalars');
      if (!tag) return [];
      const has = tag.runs === 'all' ? null : new Set(tag.runs);
      return runs.shown.filter((run) => !has || has.has(run.id)).map((run) => ({ run, tag: name, at }));
    });
    return isSame(this.before, sources) ? this.before : (this.before = sources);
  });
  private before: Source[] = [];

  /** The shown runs that have one of the tags. */
  members = $derived.by((): Run[] =>
    this.tags.length === 1 ? this.wanted.map(({ run }) => run) : [...new Set(this.wanted.map(({ run }) => run))],
  );

  /** Have all lines only a few points? For bands, this is known only while the whole range of x is loaded. */
  private isShort = $derived.by((): boolean => {
    const { series } = this.points.answer ?? {};
    if (series?.size) return (this.wasShort = [...series.values()].every(({ n }) => n <= SHORT));
    const bands = this.bandsLive.answer;
    if (bands && bands.range === undefined) this.wasShort = bands.bands.every(({ x }) => x.length <= SHORT);
    return this.wasShort;
  });
  private wasShort = false;

  /**
   * The smoothing that the viewer chose, or the default. Points are requested with it, because their number is known only
   * with the answer.
   */
  private chosenSmoothing = $derived.by(() => {
    const { kind, weight } = ts.smoothingOf(this.tag);
    return smoothingAsk(kind, weight);
  });
  /** The smoothing of the drawn lines. */
  private smoothing = $derived.by(() =>
    ts.isUsual(this.tag) && this.isShort ? ({ kind: 'none' } as const) : this.chosenSmoothing,
  );
  /** true if lines are not smoothed by default only because they are short */
  isLeftRaw = $derived.by(() => ts.isUsual(this.tag) && this.isShort && ts.smoothing > 0);

  /**
   * The parameters that all requests about this card's lines share, so that numbers in tables agree with the drawn lines.
   */
  basis = $derived.by((): Pick<ScalarsAsk, 'x' | 'smoothing' | 'compare'> => ({
    x: xAsk(steps.x),
    smoothing: this.smoothing,
    compare: this.compare,
  }));

  private banded = $derived(ts.bands !== 'off' && view.group !== '');

  /** The run that the others are compared with; null if there is none. Bands are not compared if x is another metric. */
  baseline = $derived.by((): Run | null => {
    if (view.baseline === '' || ts.compare === 'off' || (this.banded && metricOf(steps.x) !== null)) return null;
    return hub.runs.find((run) => run.name === view.baseline) ?? null;
  });
  /** The title of the y axis, if it does not show the value of the tag; otherwise ''. */
  yTitle = $derived(
    this.baseline
      ? tt(ts.compare === 'ratio' ? 'base.ratioTo' : 'base.differenceFrom', { name: runs.nameOf(this.baseline) })
      : '',
  );
  private compare = $derived(
    this.baseline && ts.compare !== 'off' ? { run: this.baseline.id, kind: ts.compare } : undefined,
  );

  /** The request without its series. */
  private ask = $derived.by((): Ask => {
    const smoothing = this.chosenSmoothing;
    const x = steps.x;
    const metric = metricOf(x);
    const many = this.wanted.length > 60 && !this.pointed;
    const split = ts.attempts || ts.partition;
    const columns: ScalarsAsk['columns'] = ['step', 'value'];
    if (smoothing.kind !== 'none') columns.push('smooth');
    if (!many || xWhat(x) !== 'number') columns.push('wall');
    if (metric !== null) columns.push('x');
    if (ts.envelope && smoothing.kind !== 'none') columns.push('flags');
    // If runs are split into parts, a relative x counts from the start of each part, but the server's range counts from
    // the start of the run. So all of x is requested.
    const range = split && (x === 'relative' || x === 'step_relative') ? undefined : (this.zoomX ?? undefined);
    // On a logarithmic axis, pixels are not equal parts of x. Twice as many points are requested, because where the axis
    // becomes linear depends on the data.
    const isLog = ts.xScale !== 'linear' && x !== 'wall';
    return {
      ...this.basis,
      smoothing,
      width: isLog ? this.width * 2 : this.width,
      range,
      near: isLog && metric === null ? NEAR[xWhat(x)] : undefined,
      superseded: ts.attempts || undefined,
      columns,
    };
  });

  // When the viewer switches between bands and lines, the old ones stay until the new ones have arrived.
  private bands = $derived(this.banded || !this.points.answer ? this.bandsLive.answer : undefined);

  /** The runs whose own lines are drawn. If there are bands, only the runs of groups that the viewer has opened. */
  private drawn = $derived(
    this.banded && this.bands ? this.wanted.filter(({ run }) => ts.revealed.has(runs.groupOf(run))) : this.wanted,
  );

  private asked: Question<Points> | null = null;
  private pointsQuestion(): Question<Points> | null {
    if (this.banded && !this.bands) return this.bandsLive.trouble ? null : this.asked;
    const series = this.drawn.map(({ run, tag }) => ({ run: run.id, tag }));
    this.asked = this.width > 0 && series.length > 0 ? scalarsQuestion(this.ask, series) : null;
    return this.asked;
  }

  private askedBands: Question<Bands> | null = null;
  private bandsQuestion(): Question<Bands> | null {
    const spread = ts.bands;
    if (!this.banded || spread === 'off') return this.points.answer || this.points.trouble ? null : this.askedBands;
    if (this.width === 0 || this.wanted.length === 0) return null;
    const groups = new Map<string, { run: number; tag: string }[]>();
    for (const { run, tag, at } of this.wanted) {
      const key = bandKey(at, runs.groupOf(run));
      const members = groups.get(key);
      if (members) members.push({ run: run.id, tag });
      else groups.set(key, [{ run: run.id, tag }]);
    }
    const { x, width, range, near, compare } = this.ask;
    this.askedBands = bandsQuestion({
      x,
      width,
      range,
      near,
      smoothing: this.smoothing,
      compare,
      center: ts.center,
      spread,
      groups: [...groups].map(([key, series]) => ({ key, series })),
    });
    return this.askedBands;
  }

  /** To be called in an effect. */
  follow(): void {
    this.points.follow(() => this.pointsQuestion());
    this.bandsLive.follow(() => this.bandsQuestion());
  }

  /** Cards that are just outside of the visible area send their requests after the visible ones. */
  set inSight(isInSight: boolean) {
    for (const query of [this.points, this.bandsLive]) query.setPriority(isInSight ? IN_SIGHT : AHEAD);
  }

  private series = $derived.by((): Loaded[] => {
    const { series } = this.points.answer ?? {};
    if (!series) return [];
    return this.drawn.flatMap((source) => {
      const data = series.get(seriesKey({ run: source.run.id, tag: source.tag }));
      return data ? [{ ...source, data }] : [];
    });
  });

  /** Why lines are missing or outdated; null if nothing is wrong. */
  trouble = $derived.by((): Trouble | null => {
    const trouble = (this.banded && this.bandsLive.trouble) || this.points.trouble;
    const metric = metricOf(steps.x);
    if (!trouble || !this.banded || metric === null || trouble.code !== 'invalid') return trouble || null;
    return { ...trouble, message: tt('bands.falls', { tag: metric }) };
  });
  /** The server refuses this request, and the lines that are held belong to another one. */
  private isRefused = $derived(this.trouble?.retryAt === null);
  state = $derived.by((): 'waiting' | 'ready' | 'failed' => {
    if (!this.isRefused && (this.bands ?? this.points.answer)) return 'ready';
    return this.trouble ? 'failed' : 'waiting';
  });

  tryNow(): void {
    this.points.tryNow();
    this.bandsLive.tryNow();
  }

  /** The range of x that `lines` cover; undefined means all of it. */
  loadedRange = $derived(this.bands ? this.bands.range : this.points.answer?.range);

  /** The series of a line, by the line's key. Bands and parts of runs have none. */
  sources = $derived.by(() => new Map(this.series.map((source) => [keyOf(source, this.tags), source])));

  lines = $derived.by((): Line[] => {
    void settings.dark;
    if (this.isRefused) return [];
    const look: Look = {
      x: steps.x,
      smooth: this.smoothing.kind !== 'none',
      envelope: ts.envelope,
      tags: this.tags,
      right: ts.rightAxis.has(this.tag),
      split: ts.attempts || ts.partition,
    };
    if (!this.bands) return seriesLines(this.series, look);
    const { keys, bands } = this.bands;
    const members = seriesLines(this.series, { ...look, split: false }).map((line, i) => ({
      ...line,
      raw: null,
      faint: true,
      colour: runs.colourOfGroup(runs.groupOf(this.series[i].run)),
    }));
    return [...bands.map((band) => bandLine(partsOfBand(keys[band.group]), band, look)), ...members];
  });

  /**
   * The lines in the legend. It is empty if there are too many to be told apart by colour, or if tags are shown by dash
   * patterns.
   */
  legend = $derived.by((): Line[] => {
    if (this.tags.length > 1) return [];
    const lines = this.lines.filter(({ faint }) => !faint);
    return lines.length <= MOST_NAMED ? lines : [];
  });

  /** The names in the legend, as soon as it is known which lines there will be. */
  expected = $derived.by((): readonly string[] => {
    if (this.tags.length > 1) return [];
    const nameOf = (run: Run) => (this.banded ? runs.groupOf(run) : runs.nameOf(run));
    const names = new Set<string>();
    for (const { run } of this.wanted) if (names.add(nameOf(run)).size > MOST_NAMED) return [];
    return [...names];
  });

  /** The number of runs in groups whose band has this flag. */
  private membersWith(flag: number): number {
    return (this.bands?.bands ?? []).reduce((n, band) => n + (band.flags & flag ? band.members : 0), 0);
  }

  info = $derived.by((): CardInfo =>
    infoOf(this.bands ? [] : this.series, {
      runs: this.members.length,
      groups: new Set(this.bands?.keys.map((key) => partsOfBand(key).group)).size,
      without: this.membersWith(UNCOMPARED),
      unsmoothed: this.membersWith(MEMBER_UNSMOOTHED),
      isZoomed: this.loadedRange !== undefined,
      tags: this.tags,
      isCompared: this.baseline !== null,
    }),
  );
}
