// The data of one card of histograms: the series of one run, or the series of all shown runs of a tag at one step.
import { GridData } from '../../rooms/histograms/data.svelte';
import { nearestStep } from '../../rooms/histograms/grid';
import { steps } from '../../rooms/steps/steps.svelte';
import { histView, type Mode } from './view.svelte';

const RIDGES = 50; // the number of steps that TensorBoard sends too
const OF_RUNS = 32; // steps that the slider of a card of several runs can show
const MOST_RUNS = 40;
const MOST_COLUMNS = 1200;

export class HistogramData extends GridData {
  readonly isOfRuns = $derived.by(() => this.ofRun === undefined);
  readonly mode = $derived.by((): Mode => (this.isOfRuns ? 'runs' : histView.modeOf(this.card)));
  readonly run = $derived.by(() => (this.isOfRuns ? undefined : this.members.at(0)));
  /** The grid of a card of one run. */
  readonly grid = $derived.by(() => (this.isOfRuns ? undefined : this.shown.at(0)?.grid));
  readonly chosen = $derived(this.grid && this.wanted !== null ? nearestStep(this.grid, this.wanted) : -1);
  readonly isNearest = $derived(
    this.chosen >= 0 && this.grid !== undefined && this.wanted !== null && this.grid.step[this.chosen] !== this.wanted,
  );
  /** A function that tells whether a step is outside of the selected range; undefined if none is selected. */
  readonly isOutside = $derived.by(() => {
    const place = steps.on && steps.x === 'step' ? steps.placeOf(this.card) : null;
    if (!place || place.to === null) return undefined;
    const { from, to } = place;
    return (step: number) => step < from || step > to;
  });
  /** The steps that the slider of a card of several runs can show: the steps of all its runs. */
  readonly stops = $derived.by(() =>
    [...new Set(this.shown.flatMap(({ grid }) => [...grid.step]))].sort((a, b) => a - b),
  );
  /** The one of these steps that is nearest to the wanted step. */
  readonly stop = $derived.by(() => {
    const { stops, wanted } = this;
    if (wanted === null) return stops.length - 1;
    return stops.reduce((best, step, i) => (Math.abs(step - wanted) < Math.abs(stops[best] - wanted) ? i : best), 0);
  });
  slide(fromNewest: number): void {
    this.choose(fromNewest === 0 ? null : this.stops[this.stops.length - 1 - fromNewest]);
  }

  readonly zoom = $derived.by(() => (this.mode === 'heat' ? (histView.zoom.get(this.card) ?? null) : null));
  get range() {
    return this.zoom;
  }
  get isZoomed(): boolean {
    return this.zoom !== null;
  }
  resetZoom(): void {
    histView.setZoom(this.card, null);
  }

  protected showsNan(): boolean {
    return !this.isOfRuns;
  }
  protected mostRuns(): number {
    return MOST_RUNS;
  }
  private readonly stepCount = $derived.by(() => {
    if (this.mode === 'runs') return OF_RUNS;
    return this.mode === 'heat' ? this.stepsIn(this.width, MOST_COLUMNS) : RIDGES;
  });
  private readonly binCount = $derived.by(() => {
    if (histView.bins > 0) return histView.bins;
    if (this.mode === 'heat') return this.height > 400 ? 160 : 80;
    return this.width > 700 ? 120 : 60;
  });
  protected question() {
    const values = histView.ignoreOutliers ? ('most' as const) : ('all' as const);
    return { steps: this.stepCount, bins: this.binCount, scale: histView.scale, values };
  }
}
