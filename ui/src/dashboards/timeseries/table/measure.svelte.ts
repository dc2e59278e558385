// The numbers of one card's table: first computed from the drawn points, then exact from the server, which uses all
// points. While the selection is moved, nothing is requested until it rests; new points cause a new request now and then.
import type { Component } from 'svelte';
import {
  clipPlace,
  drawnStats,
  LiveQuery,
  measureQuestion,
  metricOf,
  nearestIndex,
  seriesKey,
  toNumber,
  xExtent,
  xWhat,
  type Line,
  type Measure,
  type Measured,
  type MeasurePoint,
  type Place,
  type Range,
  type Stats,
  type StatPoint,
} from '../../../public';
import type { CardData } from '../card/card.svelte';
import type { Row } from './columns';
import { steps } from '../../../rooms/steps/steps.svelte';

const SETTLE_MS = 60;
const HELD_MS = 400; // milliseconds without movement after which a selection that is being dragged is requested
const MOST_SERIES = 20000;
// Stands for "where the data ends" in requests: it is finite, so that the server can compute the distance of points from
// it.
const FAR = { number: 2 ** 53, relative: 1e12, wall: 1e12 };

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

/** The edges of a band at a position, or the least and the greatest over a range. */
function edgesOf({ x, band }: Line, from: number, to: number | null): { low: number; high: number } | null {
  const first = nearestIndex(x, from);
  if (first < 0 || !band) return null;
  const edges = { low: band.low[first], high: band.high[first] };
  const last = to === null ? first : nearestIndex(x, to);
  for (let i = first + 1; i <= last; i++) {
    if (!(band.low[i] >= edges.low)) edges.low = band.low[i];
    if (!(band.high[i] <= edges.high)) edges.high = band.high[i];
  }
  return edges;
}

export interface Warning {
  kind: 'clipped' | 'nearest';
  from: number; // `from` and `to` are the range of the data; for 'nearest', `from` is the step that no run has
  to: number;
}

/** The result for a selection: its numbers, and the warning that the footer shows. */
export interface Selected {
  measures: Measures;
  Warn: Component<{ measures: Measures }>;
}

export class Measures {
  private readonly query = new LiveQuery<Measured>();
  private kept = $state.raw<{ x: string; extent: Range } | null>(null);

  constructor(
    readonly data: CardData,
    private readonly selected: () => Place | null,
  ) {}

  /** Is x another metric? Then positions are still steps, and the numbers cannot be computed from the drawn lines. */
  private along = $derived(metricOf(steps.x) !== null);

  place = $derived.by(() => this.selected());

  /** The range of all points of the card; null if only a part of them was ever requested. */
  extent = $derived.by((): Range | null => {
    if (this.along) return null;
    if (!this.data.loadedRange) return xExtent(this.data.lines, 'linear');
    return this.kept?.x === steps.x ? this.kept.extent : null;
  });

  /** The selection, limited to the data of this card. */
  shown = $derived.by((): Place | null =>
    this.place && this.extent ? clipPlace(this.place, this.extent) : this.place,
  );

  private where = $derived.by(() => {
    const place = this.place;
    if (!place) return null;
    const far = FAR[xWhat(steps.x)];
    const finite = (v: number) => Math.min(far, Math.max(-far, v));
    return {
      ...this.data.basis,
      ...(this.along ? { x: 'step' as const } : {}),
      from: finite(place.from),
      to: place.to === null ? undefined : finite(place.to),
    };
  });
  private question = $derived.by(() => {
    const series = [...this.data.sources.values()].slice(0, MOST_SERIES).map(({ run, tag }) => ({ run: run.id, tag }));
    return this.where && series.length > 0 ? measureQuestion({ ...this.where, series }) : null;
  });
  private exact = $derived.by(() => {
    if (!this.question || !this.query.answers(this.question)) return null;
    return new Map([...(this.query.answer ?? [])].map(([key, measured]) => [key, statsOf(measured)]));
  });

  /** Are the numbers already computed from all points? */
  isExact = $derived(this.exact !== null);

  rows = $derived.by((): Row[] => {
    const { lines, sources, loadedRange } = this.data;
    const place = this.place;
    // A zoomed chart has only a part of its lines, so numbers outside of that part cannot be computed from them.
    const canTell =
      place &&
      !this.along &&
      (!loadedRange || (place.from >= loadedRange[0] && (place.to ?? place.from) <= loadedRange[1]));
    return lines.map((line) => {
      const source = sources.get(line.key);
      const known = source && this.exact?.get(seriesKey({ run: source.run.id, tag: source.tag }));
      const stats = known ?? (canTell ? drawnStats(line, place.from, place.to) : null);
      return {
        key: line.key,
        name: line.name,
        tag: line.tag ?? '',
        colour: line.colour,
        run: source?.run ?? null,
        firstWall: line.firstWall,
        stats,
        edges: place && line.band ? edgesOf(line, place.from, place.to) : null,
      };
    });
  });

  warning = $derived.by((): Warning | null => {
    const { place, shown, extent } = this;
    if (!place || !shown) return null;
    const isOut = (v: number | null) =>
      v !== null && Number.isFinite(v) && extent !== null && (v < extent[0] || v > extent[1]);
    if (extent && (isOut(place.from) || isOut(place.to))) return { kind: 'clipped', from: extent[0], to: extent[1] };
    if (steps.x !== 'step' || !this.exact?.size) return null;
    const all = [...this.exact.values()];
    if (Number.isFinite(shown.from) && !all.some((s) => s.start.step === shown.from))
      return { kind: 'nearest', from: shown.from, to: NaN };
    if (shown.to !== null && Number.isFinite(shown.to) && !all.some((s) => s.end.step === shown.to))
      return { kind: 'nearest', from: shown.to, to: NaN };
    return null;
  });

  /** To be called in an effect. */
  follow(): void {
    $effect(() => {
      if (!this.place || this.data.loadedRange) return;
      const extent = this.extent;
      if (extent) this.kept = { x: steps.x, extent };
    });
    // while the selection is moved, the request waits until it rests
    this.query.follow(
      () => this.question,
      () => (steps.held ? HELD_MS : SETTLE_MS),
    );
  }
}
