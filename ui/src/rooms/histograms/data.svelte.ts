// The data of a card of histograms or of distributions: the runs that have its tag, those of them that are drawn, their
// grids, which LiveQuery keeps up to date, and the chosen step.
import {
  AHEAD,
  cardOf,
  hub,
  IN_SIGHT,
  LiveQuery,
  runs,
  seriesKey,
  type Grid,
  type GridsAsk,
  type Range,
  type Run,
  type SeriesRef,
} from '../../public';
import { steps } from '../steps/steps.svelte';
import { stepAxis } from './axis';
import { isDrawn, nanFrom } from './grid';
import { gridsQuestion, type Grids } from './question';

export const PLUGIN = 'histograms';
const ROUND = 100; // pixels: sizes are rounded to this, so that a small change of size causes no new request

export interface Shown {
  run: Run;
  grid: Grid;
}

export abstract class GridData {
  /** size of the picture in pixels */
  width = $state(0);
  height = $state(0);
  private readonly query = new LiveQuery<Grids>();

  constructor(readonly card: string) {}

  readonly tag = $derived.by(() => cardOf(this.card).tags[0]);
  /** the name of the run; undefined if the card shows all shown runs */
  readonly ofRun = $derived.by(() => cardOf(this.card).run);

  private readonly holders = $derived.by(() => {
    const tag = hub.tags.find((one) => one.plugin === PLUGIN && one.tag === this.tag);
    return tag && (tag.runs === 'all' ? 'all' : new Set(tag.runs));
  });
  /** The runs of the card that have the tag. */
  readonly members = $derived.by((): Run[] => {
    const { holders, ofRun } = this;
    if (!holders) return [];
    const some = ofRun === undefined ? runs.shown : hub.runs.filter(({ name }) => name === ofRun);
    return some.filter(({ id }) => holders === 'all' || holders.has(id));
  });
  readonly drawn = $derived.by(() => this.members.slice(0, this.mostRuns()));
  private readonly series = $derived.by((): SeriesRef[] => this.drawn.map(({ id }) => ({ run: id, tag: this.tag })));

  readonly x = $derived(stepAxis(steps.x));
  /** The step that the viewer chose; null if none was chosen, or the newest. */
  readonly wanted = $derived.by(() => steps.stepOf(this.card));

  readonly shown = $derived.by((): Shown[] => {
    const answer = this.query.answer;
    return this.drawn.flatMap((run) => {
      const grid = answer?.series.get(seriesKey({ run: run.id, tag: this.tag }));
      return grid ? [{ run, grid }] : [];
    });
  });
  /** The state that the frame of the card shows. */
  readonly phase = $derived.by(() => {
    if (this.shown.length) {
      const isShown = (grid: Grid) =>
        (this.showsNan() && nanFrom(grid) >= 0) || [...grid.marks.keys()].some((i) => isDrawn(grid, i));
      return this.shown.some(({ grid }) => isShown(grid)) ? 'ready' : 'empty';
    }
    if (this.trouble) return 'failed';
    return this.members.length && this.query.answer === undefined ? 'waiting' : 'empty';
  });

  get trouble() {
    return this.query.trouble;
  }
  tryNow(): void {
    this.query.tryNow();
  }
  set inSight(isInSight: boolean) {
    this.query.setPriority(isInSight ? IN_SIGHT : AHEAD);
  }

  /** To be called in an effect. */
  follow(): void {
    this.query.follow(() => {
      if (this.width === 0 || this.series.length === 0) return null;
      const at = this.wanted === null ? {} : { at: this.wanted };
      const range = this.range ? { range: this.range } : {};
      return gridsQuestion({ x: this.x, ...at, ...range, ...this.question() }, this.series);
    });
  }

  choose(step: number | null): void {
    steps.setStep(this.card, step);
  }

  /** The number of steps to request for this width: one for each pixel, rounded up to a multiple of ROUND. */
  protected stepsIn(width: number, most: number): number {
    return Math.min(most, Math.max(ROUND, Math.ceil(width / ROUND) * ROUND));
  }

  /** Does the picture mark a range of steps that have nothing but NaN? */
  protected abstract showsNan(): boolean;
  /** The most runs that fit into the picture. */
  protected abstract mostRuns(): number;
  /** The part of the request that depends on the picture: numbers of steps and bins, scale, range of values. */
  protected abstract question(): Pick<GridsAsk, 'steps' | 'bins' | 'scale' | 'values'>;
  /** The range of steps that the picture is zoomed to; null means all steps. */
  abstract get range(): Range | null;
  abstract get isZoomed(): boolean;
  abstract resetZoom(): void;
}
