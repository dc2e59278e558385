// Histograms as cards of the time series page.
import type { CardKind } from '../../public';
import Card from './Card.svelte';
import { cardsOfRuns } from '../../rooms/cards/ofruns';
import Form from './Form.svelte';
import { heightOf, PLUGIN } from './state.svelte';

export const kind: CardKind = {
  cardsOf: (tags, showAll) => cardsOfRuns(PLUGIN, tags, showAll),
  Card,
  heightOf,
  full: () => import('./Full.svelte'),
  Form,
};
