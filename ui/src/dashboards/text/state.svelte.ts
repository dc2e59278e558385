// The cards of texts: one for each run and tag, of the runs that are shown, tag by tag.
import { Cards } from '../../rooms/cards/cards.svelte';
import { cardsOfRuns } from '../../rooms/cards/ofruns';
import { grid } from './view.svelte';

export const PLUGIN = 'text';

export const textCards = (): Cards =>
  new Cards(grid, { plugins: [PLUGIN], cardsOf: (tags) => cardsOfRuns(PLUGIN, tags, grid.emptyCards) });
