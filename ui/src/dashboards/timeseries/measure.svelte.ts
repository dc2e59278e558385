// The numbers of one card's table: at once from the points that are drawn, then exact from the server, which looks at
// all of them. A moving selection asks when it rests; news asks again now and then.
import { untrack } from 'svelte';
import {
  api,
  clipPlace,
  drawnStats,
  hub,
  metricOf,
  toNumber,
  view,
  xExtent,
  xWhat,
  type Measure,
  type MeasureAsk,
  type MeasurePoint,
  type Place,
  type Range,
  type Stats,
  type StatPoint,
} from '../../public';
import type { CardData } from './card.svelte';
import type { Row } from './columns';
import { selection } from '../../rooms/steps/steps.svelte';

const SETTLE_MS = 60;
const HELD_MS = 400; // a hand that pauses
const LIVE_EVERY_MS = 1000;
const MOST_SERIES = 20000;
// "where the data ends" as a number that the server can tell all points' distance from
const FAR = { number: 2 ** 53, relative: 1e12, wall: 1e12 };

const keyOf = (run: number, tag: string) => `${run}\n${tag}`;
const pointOf = (p: MeasurePoint): StatPoint => ({
  step: toNumber(p.step),
  wall: toNumber(p.wall),
  value: toNumber(p.smooth),
  raw: toNumber(p.value),
});
const maybe = (p: MeasurePoint | null) => (p ? pointOf(p) : null);

function statsOf(m: Measure): Stats {
  return {
    start: pointOf(m.start),
    end: pointOf(m.end),
    line: {
      min: maybe(m.minSmooth),
      max: maybe(m.maxSmooth),
      mean: m.meanSmooth === null ? NaN : toNumber(m.meanSmooth),
    },
    raw: { min: maybe(m.min), max: maybe(m.max), mean: m.mean === null ? NaN : toNumber(m.mean) },
  };
}

export interface Warning {
  kind: 'clipped' | 'nearest';
  from: number; // of the data, or the step that nobody has
  to: number;
}

export class Measures {
  private exact = $state.raw<{ key: string; stats: Map<string, Stats> } | null>(null);
  private kept = $state.raw<{ x: string; extent: Range } | null>(null);
  private asking: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private askedAt = 0;
  private seen = 0;

  constructor(
    readonly data: CardData,
    private readonly selected: () => Place | null,
  ) {}

  /** x is another metric: then places are steps all the same, and the lines that are drawn can't tell. */
  private along = $derived(metricOf(view.x) !== null);

  place = $derived.by(() => this.selected());

  /** Of all of the card's points; null while only a part was ever asked for. */
  extent = $derived.by((): Range | null => {
    if (this.along) return null;
    if (!this.data.loadedRange) return xExtent(this.data.lines, 'linear');
    return this.kept?.x === view.x ? this.kept.extent : null;
  });

  /** The selection as it is on this card's data. */
  shown = $derived.by((): Place | null =>
    this.place && this.extent ? clipPlace(this.place, this.extent) : this.place,
  );

  private where = $derived.by(() => {
    const place = this.place;
    if (!place) return null;
    const far = FAR[xWhat(view.x)];
    const finite = (v: number) => Math.min(far, Math.max(-far, v));
    return {
      ...this.data.basis,
      ...(this.along ? { x: 'step' as const } : {}),
      from: finite(place.from),
      to: place.to === null ? undefined : finite(place.to),
    };
  });
  private key = $derived(JSON.stringify(this.where));

  /** Are the numbers those of all points yet? */
  isExact = $derived(this.exact?.key === this.key);

  rows = $derived.by((): Row[] => {
    const { lines, sources, loadedRange } = this.data;
    const place = this.place;
    // of a zoomed chart's lines only a part is here: they can't tell of what lies beyond
    const canTell =
      place &&
      !this.along &&
      (!loadedRange || (place.from >= loadedRange[0] && (place.to ?? place.from) <= loadedRange[1]));
    const exact = this.exact?.key === this.key ? this.exact.stats : null;
    return lines.map((line) => {
      const source = sources.get(line.key);
      const known = source && exact?.get(keyOf(source.run.id, source.tag));
      const stats = known ?? (canTell ? drawnStats(line, place.from, place.to) : null);
      return {
        key: line.key,
        name: line.name,
        tag: line.tag ?? '',
        colour: line.colour,
        run: source?.run ?? null,
        firstWall: line.firstWall,
        stats,
      };
    });
  });

  warning = $derived.by((): Warning | null => {
    const { place, shown, extent } = this;
    if (!place || !shown) return null;
    const isOut = (v: number | null) =>
      v !== null && Number.isFinite(v) && extent !== null && (v < extent[0] || v > extent[1]);
    if (extent && (isOut(place.from) || isOut(place.to))) return { kind: 'clipped', from: extent[0], to: extent[1] };
    if (view.x !== 'step' || !this.isExact || !this.exact?.stats.size) return null;
    const all = [...this.exact.stats.values()];
    if (Number.isFinite(shown.from) && !all.some((s) => s.start.step === shown.from))
      return { kind: 'nearest', from: shown.from, to: NaN };
    if (shown.to !== null && Number.isFinite(shown.to) && !all.some((s) => s.end.step === shown.to))
      return { kind: 'nearest', from: shown.to, to: NaN };
    return null;
  });

  /** Inside an effect. */
  follow(): void {
    $effect(() => {
      if (!this.place || this.data.loadedRange) return;
      const extent = this.extent;
      if (extent) this.kept = { x: view.x, extent };
    });
    $effect(() => {
      const where = this.where;
      const series = [...this.data.sources.values()]
        .slice(0, MOST_SERIES)
        .map(({ run, tag }) => ({ run: run.id, tag }));
      if (!where || series.length === 0) return;
      const wait = selection.held ? HELD_MS : SETTLE_MS;
      untrack(() => this.soon(wait, { ...where, series }));
      return () => clearTimeout(this.timer);
    });
    $effect(() => {
      const { version, tags } = hub.changed;
      if (version === this.seen) return;
      this.seen = version;
      const last = this.last;
      if (!last || (tags && !last.series.some(({ tag }) => tags.has(tag)))) return;
      untrack(() => this.soon(Math.max(SETTLE_MS, this.askedAt + LIVE_EVERY_MS - Date.now()), last));
    });
    $effect(() => () => {
      clearTimeout(this.timer);
      this.asking?.abort();
    });
  }

  private last: MeasureAsk | null = null;

  private soon(wait: number, ask: MeasureAsk): void {
    this.last = ask;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.load(ask), wait);
  }

  private async load(ask: MeasureAsk): Promise<void> {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    this.askedAt = Date.now();
    const { series, ...where } = ask;
    const reply = await api.measure(ask, asking.signal);
    if (!reply.ok || asking.signal.aborted) return;
    const stats = new Map<string, Stats>();
    reply.value.series.forEach(
      (measured, i) => measured && stats.set(keyOf(series[i].run, series[i].tag), statsOf(measured)),
    );
    this.exact = { key: JSON.stringify(where), stats };
  }
}
