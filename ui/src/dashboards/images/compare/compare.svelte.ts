// The two images that are compared: the data of each side, and the measurements of the server for the pair.
import { cardOf, LiveQuery, ok, seriesKey, type Comparison, type Question } from '../../../public';
import { PictureData } from '../card/card.svelte';
import { mediaQuestion, type Shelves } from '../../../rooms/media/question';
import type { Spot } from '../../../rooms/media/shelf';
import { pairPath } from '../picture/sources';
import { imagesView, type Side } from '../view.svelte';

/** One side: the images of its card, and the image at its step. */
export class SideData {
  readonly pictures: PictureData;

  constructor(
    readonly which: 'a' | 'b',
    card: string,
  ) {
    this.pictures = new PictureData(card);
  }

  private readonly side = $derived.by((): Side | null => imagesView[this.which]);
  run = $derived.by(() => this.pictures.run);
  runName = $derived.by(() => cardOf(this.pictures.card).run ?? '');
  total = $derived.by(() => this.pictures.total);
  index = $derived.by(() => this.pictures.shelf?.near(this.side?.step ?? null) ?? -1);
  step = $derived.by(() => (this.total > 0 ? (this.pictures.shelf?.stepAt(this.index) ?? NaN) : NaN));
  spot = $derived.by(
    (): Spot | null => this.pictures.shelf?.spot(this.index, cardOf(this.pictures.card).sample ?? 0) ?? null,
  );

  private readonly references = new LiveQuery<Shelves>();
  /** The reference image for this one: of the same run and sample, at the nearest step. */
  referenceOf(tag: string): Spot | null {
    const { spot } = this;
    const shelf = spot ? this.references.answer?.get(seriesKey({ run: spot.run, tag })) : undefined;
    return spot && shelf ? shelf.spot(shelf.near(spot.step), spot.sample) : null;
  }

  /** To be called in an effect. */
  follow(reference: () => string | null): void {
    this.pictures.follow();
    this.references.follow(() => {
      const tag = reference();
      return tag === null || !this.run ? null : mediaQuestion('images', [{ run: this.run.id, tag }]);
    });
  }
  /** Shows the step at this index, counted from the newest. */
  slide(fromNewest: number): void {
    const { shelf } = this.pictures;
    if (shelf) this.goTo(shelf.stepAt(Math.max(0, Math.min(this.total - 1, this.total - 1 - fromNewest))));
  }
  goTo(step: number): void {
    const { side } = this;
    if (side) imagesView.choose(this.which, { ...side, step });
  }
}

export function compareQuestion(a: Spot, b: Spot): Question<Comparison> {
  const path = pairPath('compare', a, b);
  return {
    key: path,
    depends: null,
    asks: () => [{ path, as: 'json' }],
    take: ([reply]) => ok(reply as Comparison),
    sizeOf: () => 200,
  };
}

export const newComparison = () => new LiveQuery<Comparison>();
