// One card's pictures: the steps of its series, which sample of the shown one.
import { ahead } from '../../../rooms/media/ahead';
import { ListedSteps } from '../../../rooms/media/list.svelte';
import { loadAhead } from '../picture/preload';
import { isPicture, sourceOf } from '../picture/sources';
import { imagesView, PLUGIN } from '../view.svelte';

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

  /** Inside an effect. */
  override follow(): void {
    super.follow();
    $effect(() => (this.isInSight ? () => ahead.forget(this) : undefined));
  }

  /** Pictures beside the one that is shown are loaded when that one, and all others in sight, are there. */
  prefetchAround(pixels: number): void {
    const beside = this.beside.flatMap((index) => this.shelf?.spot(index, this.sample) ?? []).filter(isPicture);
    ahead.want(
      this,
      beside.map((spot) => sourceOf(spot, pixels).url),
      loadAhead,
    );
  }
}
