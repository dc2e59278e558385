// The data of a grid of images: a row for each run, and columns for some of the steps. A cell shows the image of its run
// that is nearest to the step of the column. After the last step of a run, its cells are empty.
import { cardOf, hub, LiveQuery, runs, seriesKey, type Run } from '../../../public';
import { Asked } from '../../../rooms/card/asked.svelte';
import { steps } from '../../../rooms/steps/steps.svelte';
import { mediaQuestion, type Shelves } from '../../../rooms/media/question';
import { chooseSteps, stepsOf, type Shelf, type Spot } from '../../../rooms/media/shelf';
import type { Images } from '../state.svelte';
import { imagesView } from '../view.svelte';

export interface Cell {
  spot: Spot | null;
  step: number; // the step of the column
  /** the last step of the run, if the run has no image at this column any more; otherwise null */
  endsAt: number | null;
}
export interface Row {
  run: Run;
  shelf: Shelf | null;
  cells: Cell[];
}

export class MatrixData extends Asked<Shelves> {
  /** the reference images, which those of the grid are compared with */
  private readonly references = new LiveQuery<Shelves>();
  columns = $state(6);

  constructor(
    readonly card: string,
    private readonly dash: Images,
  ) {
    super();
  }

  readonly tag = $derived.by(() => cardOf(this.card).tags[0]);
  sample = $derived.by(() => imagesView.sampleOf(this.card));
  runs = $derived.by(() => this.dash.runsOf(this.card));
  shown = $derived.by(() => this.runs.slice(0, this.dash.rowsOf(this.card)));
  private readonly key = $derived(this.shown.map(({ id }) => id).join(','));
  private readonly shelfOf = (run: Run): Shelf | null =>
    this.query.answer?.get(seriesKey({ run: run.id, tag: this.tag })) ?? null;

  allSteps = $derived.by(() => stepsOf(this.shown.flatMap((run) => this.shelfOf(run) ?? [])));
  /** The steps of the columns. The common step is one of them. */
  steps = $derived.by(() => chooseSteps(this.allSteps, this.columns, imagesView.spacing, steps.master));
  samples = $derived.by(() => Math.max(0, ...this.shown.map((run) => this.shelfOf(run)?.samples ?? 0)));

  rows = $derived.by((): Row[] =>
    this.shown.map((run) => {
      const shelf = this.shelfOf(run);
      return { run, shelf, cells: this.steps.map((step) => this.cell(shelf, step)) };
    }),
  );
  private cell(shelf: Shelf | null, step: number): Cell {
    if (!shelf || shelf.total === 0) return { spot: null, step, endsAt: null };
    const lastStep = shelf.stepAt(shelf.total - 1);
    if (lastStep < step) return { spot: null, step, endsAt: lastStep };
    return { spot: shelf.spot(shelf.near(step), this.sample), step, endsAt: null };
  }

  lastOf(row: Row): Spot | null {
    return row.shelf?.spot(row.shelf.total - 1, this.sample) ?? null;
  }

  /** The reference tag; null if there is none, or if it is the tag of this grid. */
  readonly reference = $derived.by(() => (this.dash.reference === this.tag ? null : this.dash.reference));
  /** The reference image for an image of the grid: of the same run and sample, at the nearest step. */
  referenceOf(spot: Spot): Spot | null {
    const tag = this.reference;
    const shelf = tag === null ? undefined : this.references.answer?.get(seriesKey({ run: spot.run, tag }));
    return shelf?.spot(shelf.near(spot.step), spot.sample) ?? null;
  }
  get knowsReferences(): boolean {
    return this.reference !== null && this.references.answer !== undefined;
  }

  /** To be called in an effect. */
  follow(): void {
    const ask = (tag: string | null) => {
      const ids = this.key === '' || tag === null ? [] : this.key.split(',').map(Number);
      return tag !== null && ids.length
        ? mediaQuestion(
            'images',
            ids.map((run) => ({ run, tag })),
          )
        : null;
    };
    this.query.follow(() => ask(this.tag));
    this.references.follow(() => ask(this.reference));
  }
  nameOf(run: Run): string {
    return runs.nameOf(run);
  }
  static isRunning(run: Run): boolean {
    return hub.runs.find(({ id }) => id === run.id)?.state === 'running';
  }
}
