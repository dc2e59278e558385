// Drag and drop of a card by its title onto another card. Among pinned cards, a drop on the left or right third of a card
// (half, if cards cannot be combined) moves the dragged card before or after it. Any other drop combines the two cards,
// if the dashboard can do that.
import { DragKind } from '../../public';
import { isPinnedPlace, type Cards } from '../cards/cards.svelte';
import { cardView } from './card.svelte';

export type Drop = 'combine' | 'before' | 'after';
/** Combines two cards into one; undefined if the dashboard has no such cards. */
export type Combine = ((from: string, onto: string) => void) | undefined;

const dragged = new DragKind<{ place: string; card: string }>('application/x-seaboard-card');

export const startDrag = (e: DragEvent, place: string, card: string): void => dragged.start(e, { place, card });

/** What a drop at this position would do; null if nothing. */
export function dropOf(e: DragEvent, place: string, card: string, combine: Combine): Drop | null {
  const from = dragged.over(e);
  if (!from || from.card === card) return null;
  if (!isPinnedPlace(place) || !isPinnedPlace(from.place)) return combine ? 'combine' : null;
  const box = (e.currentTarget as HTMLElement).getBoundingClientRect();
  const share = (e.clientX - box.left) / box.width;
  const edge = combine ? 1 / 3 : 1 / 2;
  return share < edge ? 'before' : share >= 1 - edge ? 'after' : 'combine';
}

export function drop(e: DragEvent, place: string, card: string, cards: Cards, combine: Combine): void {
  const what = dropOf(e, place, card, combine);
  const from = dragged.over(e)?.card;
  if (!what || from === undefined) return;
  e.preventDefault();
  if (what === 'combine') combine?.(from, card);
  else {
    const others = cards.pins.filter((pin) => pin !== from);
    cardView.movePin(from, others.indexOf(card) + (what === 'after' ? 1 : 0), cards.pins);
  }
}
