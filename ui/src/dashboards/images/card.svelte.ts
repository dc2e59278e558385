// One card's pictures: which steps there are, which one is shown, which sample of it; kept up to date by LiveQuery. The
// newest is shown until somebody chooses a step; from then on that step stays, whatever comes.
import { AHEAD, cardOf, hub, IN_SIGHT, LiveQuery, seriesKey, type Run } from '../../public';
import { steps } from '../../rooms/steps/steps.svelte';
import { prefetch } from './preload';
import { imagesQuestion, type Shelves } from './question';
import type { Shelf } from './shelf';
import { isPicture, sourceOf } from './sources';
import { imagesView } from './view.svelte';

export class PictureData {
  private readonly query = new LiveQuery<Shelves>();

  constructor(readonly card: string) {}

  readonly tag = $derived.by(() => cardOf(this.card).tags[0]);
  run = $derived.by((): Run | undefined => {
    const { run } = cardOf(this.card);
    return hub.runs.find(({ name }) => name === run);
  });
  private readonly runId = $derived(this.run?.id); // the run itself changes with every point

  shelf = $derived.by((): Shelf | null => {
    if (this.runId === undefined) return null;
    return this.query.answer?.get(seriesKey({ run: this.runId, tag: this.tag })) ?? null;
  });
  total = $derived(this.shelf?.total ?? 0);
  /** The step that the viewer wants; null: the newest. */
  wanted = $derived.by(() => steps.stepOf(this.card));
  /** counted from the oldest */
  index = $derived(this.shelf ? this.shelf.near(this.wanted) : -1);
  step = $derived(this.shelf && this.total > 0 ? this.shelf.stepAt(this.index) : NaN);
  isNearest = $derived(this.wanted !== null && this.total > 0 && this.step !== this.wanted);
  /** of this step */
  samples = $derived(this.shelf && this.total > 0 ? this.shelf.countAt(this.index) : 0);
  sample = $derived.by(() => imagesView.sampleOf(this.card));
  spot = $derived(this.shelf?.spot(this.index, this.sample) ?? null);

  get trouble() {
    return this.query.trouble;
  }
  get isAnswered(): boolean {
    return this.query.answer !== undefined;
  }
  tryNow(): void {
    this.query.tryNow();
  }
  set inSight(isInSight: boolean) {
    this.query.setPriority(isInSight ? IN_SIGHT : AHEAD);
  }

  /** Inside an effect. */
  follow(): void {
    this.query.follow(() => (this.runId === undefined ? null : imagesQuestion([{ run: this.runId, tag: this.tag }])));
  }

  /** To the picture at this index, counted from the newest. */
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
  setSample(sample: number): void {
    if (this.samples > 0) imagesView.setSample(this.card, Math.max(0, Math.min(this.samples - 1, sample)));
  }

  /** Pictures beside the one that is shown are loaded when that one is there. */
  prefetchAround(pixels: number): void {
    for (const by of [1, -1, 2]) {
      const spot = this.shelf?.spot(this.index + by, this.sample);
      if (spot && isPicture(spot)) prefetch(sourceOf(spot, pixels).url);
    }
  }
}
