// The images or clips of one card: which steps there are and which one is shown, kept up to date by LiveQuery. The newest
// step is shown until the viewer chooses one; then the chosen step stays, also when new ones arrive.
import { seriesKey } from '../../public';
import { OneRun } from '../card/one.svelte';
import { steps } from '../steps/steps.svelte';
import { mediaQuestion, type MediaPlugin, type Shelves } from './question';
import type { Shelf } from './shelf';

/** Neighbours of the shown step that are prefetched, as offsets of the index. */
const BESIDE = [1, -1, 2];

export class ListedSteps extends OneRun<Shelves> {
  /** true until the card is told that it is not visible */
  isInSight = $state(true);

  constructor(
    card: string,
    private readonly plugin: MediaPlugin,
  ) {
    super(card);
  }

  readonly shelf = $derived.by((): Shelf | null => {
    if (this.runId === undefined) return null;
    const all = this.query.answer?.get(seriesKey({ run: this.runId, tag: this.tag })) ?? null;
    return all && this.choose(all);
  });
  readonly total = $derived(this.shelf?.total ?? 0);
  /** index of the shown step, counted from the oldest */
  readonly index = $derived(this.shelf ? this.shelf.near(this.wanted) : -1);
  readonly step = $derived(this.shelf && this.total > 0 ? this.shelf.stepAt(this.index) : NaN);
  readonly isNearest = $derived(this.wanted !== null && this.total > 0 && this.step !== this.wanted);

  /** The steps that the card shows, out of all steps. */
  protected choose(all: Shelf): Shelf {
    return all;
  }

  override set inSight(isInSight: boolean) {
    this.isInSight = isInSight;
    super.inSight = isInSight;
  }

  /** To be called in an effect. */
  follow(): void {
    this.query.follow(() =>
      this.runId === undefined ? null : mediaQuestion(this.plugin, [{ run: this.runId, tag: this.tag }]),
    );
  }

  /** Shows the step at this index, counted from the newest. */
  slide(fromNewest: number): void {
    if (!this.shelf) return;
    const index = Math.max(0, Math.min(this.total - 1, this.total - 1 - fromNewest));
    const isNewest = index === this.total - 1 && steps.master === null;
    steps.setStep(this.card, isNewest ? null : this.shelf.stepAt(index));
  }
  slideBy(by: number): void {
    if (this.total > 1) this.slide(this.total - 1 - this.index - by);
  }
  goTo(step: number): void {
    steps.setStep(this.card, step);
  }
  /** The indices of the steps that are prefetched. */
  get beside(): number[] {
    return BESIDE.map((by) => this.index + by).filter((index) => index >= 0 && index < this.total);
  }
}
