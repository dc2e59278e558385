// What one card of histograms shows: the series of one run, or those of all shown runs of a tag; their grids, kept up to
// date by LiveQuery; the step that is chosen.
import {
  AHEAD,
  cardOf,
  hub,
  IN_SIGHT,
  LiveQuery,
  runs,
  seriesKey,
  type Grid,
  type Run,
  type SeriesRef,
} from '../../public';
import { stepAxis } from '../../rooms/histograms/axis';
import { nearestStep } from '../../rooms/histograms/grid';
import { gridsQuestion, type Grids } from '../../rooms/histograms/question';
import { steps } from '../../rooms/steps/steps.svelte';
import { PLUGIN } from './state.svelte';
import { histView, type Mode } from './view.svelte';

const RIDGES = 50; // as many steps as TensorBoard sends
const OF_RUNS = 32; // steps that the slider of a card of several runs stops at
const MOST_RUNS = 40;
const MOST_COLUMNS = 1200;
const ROUND = 100; // pixels: a small change of size is no new question

export interface Shown {
  run: Run;
  grid: Grid;
}

export class HistogramData {
  width = $state(0);
  height = $state(0);
  private readonly query = new LiveQuery<Grids>();

  constructor(readonly card: string) {}

  readonly tag = $derived.by(() => cardOf(this.card).tags[0]);
  readonly runName = $derived.by(() => cardOf(this.card).run);
  readonly isOfRuns = $derived.by(() => this.runName === undefined);
  mode = $derived.by((): Mode => (this.isOfRuns ? 'runs' : histView.modeOf(this.card)));

  private readonly holders = $derived.by(() => {
    const tag = hub.tags.find((one) => one.plugin === PLUGIN && one.tag === this.tag);
    return tag && (tag.runs === 'all' ? 'all' : new Set(tag.runs));
  });
  /** The runs of the card that have the tag. */
  members = $derived.by((): Run[] => {
    const { holders, runName } = this;
    if (!holders) return [];
    const some = runName === undefined ? runs.shown : hub.runs.filter(({ name }) => name === runName);
    return some.filter(({ id }) => holders === 'all' || holders.has(id));
  });
  run = $derived(this.isOfRuns ? undefined : this.members.at(0));
  leftOut = $derived(Math.max(0, this.members.length - MOST_RUNS));
  private readonly series = $derived.by((): SeriesRef[] =>
    this.members.slice(0, MOST_RUNS).map(({ id }) => ({ run: id, tag: this.tag })),
  );
  private readonly seriesText = $derived(this.series.map(seriesKey).join('\n'));

  x = $derived(stepAxis(steps.x));
  /** The step that the viewer chose; null: none, or the newest. */
  wanted = $derived.by(() => steps.stepOf(this.card));
  /** Is this step outside of the selected range? undefined: none is selected. */
  isOutside = $derived.by(() => {
    const place = steps.on && steps.x === 'step' ? steps.placeOf(this.card) : null;
    if (!place || place.to === null) return undefined;
    const { from, to } = place;
    return (step: number) => step < from || step > to;
  });

  zoom = $derived.by(() => (this.mode === 'heat' ? histView.zoom.get(this.card) : undefined));

  shown = $derived.by((): Shown[] => {
    const answer = this.query.answer;
    if (!answer) return [];
    return this.members.flatMap((run) => {
      const grid = answer.series.get(seriesKey({ run: run.id, tag: this.tag }));
      return grid ? [{ run, grid }] : [];
    });
  });
  /** Of a card of one run. */
  grid = $derived(this.isOfRuns ? undefined : this.shown.at(0)?.grid);
  chosen = $derived(this.grid && this.wanted !== null ? nearestStep(this.grid, this.wanted) : -1);
  isNearest = $derived(
    this.chosen >= 0 && this.grid !== undefined && this.wanted !== null && this.grid.step[this.chosen] !== this.wanted,
  );
  isEmpty = $derived(this.query.answer !== undefined && this.shown.every(({ grid }) => grid.steps === 0));

  /** Steps that the slider of a card of several runs stops at, of all of them. */
  stops = $derived.by(() => [...new Set(this.shown.flatMap(({ grid }) => [...grid.step]))].sort((a, b) => a - b));

  get trouble() {
    return this.query.trouble;
  }
  tryNow(): void {
    this.query.tryNow();
  }
  set inSight(isInSight: boolean) {
    this.query.setPriority(isInSight ? IN_SIGHT : AHEAD);
  }

  private readonly stepCount = $derived.by(() => {
    if (this.mode === 'runs') return OF_RUNS;
    if (this.mode !== 'heat') return RIDGES;
    return Math.min(MOST_COLUMNS, Math.max(ROUND, Math.ceil(this.width / ROUND) * ROUND));
  });
  private readonly binCount = $derived.by(() => {
    if (histView.bins > 0) return histView.bins;
    if (this.mode === 'heat') return this.height > 400 ? 160 : 80;
    return this.width > 700 ? 120 : 60;
  });

  /** Inside an effect. */
  follow(): void {
    this.query.follow(() => {
      void this.seriesText; // the series change only when this does: runs are told anew with every point
      if (this.width === 0 || this.series.length === 0) return null;
      return gridsQuestion(
        {
          x: this.x,
          steps: this.stepCount,
          bins: this.binCount,
          ...(this.wanted === null ? {} : { at: this.wanted }),
          ...(this.zoom ? { range: this.zoom } : {}),
          scale: histView.scale,
          values: histView.ignoreOutliers ? 'most' : 'all',
        },
        this.series,
      );
    });
  }

  choose(step: number | null): void {
    steps.setStep(this.card, step);
  }
}
