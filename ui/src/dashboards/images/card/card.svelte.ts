// The images of one card: the steps of its series, and which sample of the shown step is displayed.
import { ahead } from '../../../rooms/media/ahead';
import { ListedSteps } from '../../../rooms/media/list.svelte';
import { loadAhead } from '../picture/preload';
import { isPicture, sourceOf } from '../picture/sources';
import { imagesView, PLUGIN } from '../view.svelte';

export class PictureData extends ListedSteps {
  constructor(card: string) {
    super(card, PLUGIN);
  }

  /** number of samples of the shown step */
  readonly samples = $derived(this.shelf && this.total > 0 ? this.shelf.countAt(this.index) : 0);
  readonly sample = $derived.by(() => imagesView.sampleOf(this.card));
  readonly spot = $derived(this.shelf?.spot(this.index, this.sample) ?? null);

  setSample(sample: number): void {
    if (this.samples > 0) imagesView.setSample(this.card, Math.max(0, Math.min(this.samples - 1, sample)));
  }

  /** To be called in an effect. */
  override follow(): void {
    super.follow();
    $effect(() => (this.isInSight ? () => ahead.forget(this) : undefined));
  }

  /** Prefetches the neighbours of the shown image. They are loaded after the shown image and all other visible ones. */
  prefetchAround(pixels: number): void {
    const beside = this.beside.flatMap((index) => this.shelf?.spot(index, this.sample) ?? []).filter(isPicture);
    ahead.want(
      this,
      beside.map((spot) => sourceOf(spot, pixels).url),
      loadAhead,
    );
  }
}
