// The cards of texts: for each tag, one for each shown run that has it.
import { Cards } from '../../rooms/cards/cards.svelte';
import { cardsOfRuns } from '../../rooms/cards/ofruns';
import { grid } from './view.svelte';

export const PLUGIN = 'text';

export const textCards = (): Cards =>
  new Cards(grid, { plugins: [PLUGIN], cardsOf: (tags) => cardsOfRuns(PLUGIN, tags, grid.emptyCards) });
