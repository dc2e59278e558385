// One card's pictures: the steps of its series, which sample of the shown one.
import { ListedSteps } from '../../rooms/media/list.svelte';
import { prefetch } from './preload';
import { isPicture, sourceOf } from './sources';
import { imagesView, PLUGIN } from './view.svelte';

export class PictureData extends ListedSteps {
  constructor(card: string) {
    super(card, PLUGIN);
  }

  /** of this step */
  readonly samples = $derived(this.shelf && this.total > 0 ? this.shelf.countAt(this.index) : 0);
  readonly sample = $derived.by(() => imagesView.sampleOf(this.card));
  readonly spot = $derived(this.shelf?.spot(this.index, this.sample) ?? null);

  setSample(sample: number): void {
    if (this.samples > 0) imagesView.setSample(this.card, Math.max(0, Math.min(this.samples - 1, sample)));
  }

  /** Pictures beside the one that is shown are loaded when that one is there. */
  prefetchAround(pixels: number): void {
    for (const index of this.beside) {
      const spot = this.shelf?.spot(index, this.sample);
      if (spot && isPicture(spot)) prefetch(sourceOf(spot, pixels).url);
    }
  }
}
