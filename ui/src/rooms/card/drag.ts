// A card's title that is dragged onto another card. Within the pinned cards a drop on the left or right third of a card
// (half, where cards can't be combined) puts the dragged one there; elsewhere the two are combined, if the dashboard can.
import { DragKind } from '../../public';
import { isPinnedPlace, type Cards } from '../cards/cards.svelte';
import { cardView } from './card.svelte';

export type Drop = 'combine' | 'before' | 'after';
/** Makes one card of two; absent where a dashboard has no such cards. */
export type Combine = ((from: string, onto: string) => void) | undefined;

const dragged = new DragKind<{ place: string; card: string }>('application/x-seaboard-card');

export const startDrag = (e: DragEvent, place: string, card: string): void => dragged.start(e, { place, card });

/** What a drop here would do; null: nothing. */
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
