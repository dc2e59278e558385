// The menu entries that every card has: full width, and moving the card among the pinned cards.
import { t, type MenuItem } from '../../public';
import type { Cards } from '../cards/cards.svelte';
import { cardView } from './card.svelte';

function pinMoves(card: string, pins: readonly string[]): MenuItem[] {
  const at = pins.indexOf(card);
  if (at < 0 || pins.length < 2) return [];
  return [
    { label: t('card.pinEarlier'), disabled: at === 0, run: () => cardView.movePin(card, at - 1, pins) },
    { label: t('card.pinLater'), disabled: at === pins.length - 1, run: () => cardView.movePin(card, at + 1, pins) },
  ];
}

export const frameItems = (card: string, cards: Cards): MenuItem[] => [
  { label: t('card.wide'), checked: cardView.wide.has(card), run: () => cardView.toggleWide(card) },
  ...pinMoves(card, cards.pins),
];
