// Registers images as a kind of card of the time series dashboard.
import type { CardKind } from '../../public';
import Card from './card/Card.svelte';
import Form from './Form.svelte';
import { cardHeight, cardsOfRuns } from './state.svelte';

export { texts } from './texts';
export const kind: CardKind = {
  cardsOf: cardsOfRuns,
  Card,
  heightOf: cardHeight,
  full: () => import('./card/Full.svelte'),
  Form,
};
