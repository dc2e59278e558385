// The cards of histograms: one for each tag and shown run, or one for each tag with all its runs.
import { cardKey } from '../../public';
import { Cards } from '../../rooms/cards/cards.svelte';
import { cardsOfRuns } from '../../rooms/cards/ofruns';
import { PLUGIN } from '../../rooms/histograms/data.svelte';
import { grid, histView } from './view.svelte';

export const heightOf = (_: string, isWide: boolean): number => (isWide ? 400 : 300);

export const histogramCards = (): Cards =>
  new Cards(grid, {
    plugins: [PLUGIN],
    cardsOf: (tags) =>
      histView.mode === 'runs'
        ? tags.map(({ tag }) => cardKey({ plugin: PLUGIN, tags: [tag] }))
        : cardsOfRuns(PLUGIN, tags, grid.emptyCards),
  });
