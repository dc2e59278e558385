// Registers histograms as a kind of card of the time series dashboard.
import type { CardKind } from '../../public';
import Card from './Card.svelte';
import { cardsOfRuns } from '../../rooms/cards/ofruns';
import { PLUGIN } from '../../rooms/histograms/data.svelte';
import Form from './Form.svelte';
import { heightOf } from './state.svelte';

export { histogramTexts as texts } from '../../rooms/histograms/texts';
export const kind: CardKind = {
  cardsOf: (tags, showAll) => cardsOfRuns(PLUGIN, tags, showAll),
  Card,
  heightOf,
  full: () => import('./Full.svelte'),
  Form,
};
