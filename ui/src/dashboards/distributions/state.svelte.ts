// The cards of distributions, one for each tag, and the data of one card: percentiles of the shown runs that have the
// tag.
import { cardKey } from '../../public';
import { Cards } from '../../rooms/cards/cards.svelte';
import { panelsIn } from '../../rooms/histograms/bands';
import { GridData, PLUGIN } from '../../rooms/histograms/data.svelte';
import { distView, grid } from './view.svelte';

const MOST_TOGETHER = 40;
const MOST_STEPS = 1000;

export const distributionCards = (): Cards =>
  new Cards(grid, {
    plugins: [PLUGIN],
    cardsOf: (tags) => tags.map(({ tag }) => cardKey({ plugin: PLUGIN, tags: [tag] })),
  });

export class DistributionData extends GridData {
  readonly isTogether = $derived.by(() => distView.layout === 'together');
  readonly zoom = $derived.by(() => distView.zoom.get(this.card) ?? null);
  get range() {
    return this.zoom?.x ?? null;
  }
  get isZoomed(): boolean {
    return this.zoom !== null;
  }
  resetZoom(): void {
    distView.setZoom(this.card, null);
  }

  protected showsNan(): boolean {
    return !this.isTogether;
  }
  protected mostRuns(): number {
    return this.isTogether ? MOST_TOGETHER : panelsIn(this.width);
  }
  private readonly stepCount = $derived.by(() => {
    const panels = this.isTogether ? 1 : Math.max(1, this.drawn.length);
    return this.stepsIn(this.width / panels, MOST_STEPS);
  });
  protected question() {
    return { steps: this.stepCount, bins: 0 };
  }
}
