// A card's title that is dragged onto another card: they become one chart. Within the pinned cards a drop on the left or
// right third of a card puts the dragged one there instead.
import { DragKind, view } from '../../public';
import type { TimeSeries } from '../../dashboards/timeseries/state.svelte';

export type Drop = 'combine' | 'before' | 'after';

const cards = new DragKind<{ id: string; card: string }>('application/x-seaboard-card');

export const startDrag = (e: DragEvent, id: string, card: string): void => cards.start(e, { id, card });

const isPinned = (id: string) => id.startsWith('*\n');

/** What a drop here would do; null: nothing. */
export function dropOf(e: DragEvent, id: string, card: string): Drop | null {
  const dragged = cards.over(e);
  if (!dragged || dragged.card === card) return null;
  if (!isPinned(id) || !isPinned(dragged.id)) return 'combine';
  const box = (e.currentTarget as HTMLElement).getBoundingClientRect();
  const share = (e.clientX - box.left) / box.width;
  return share < 1 / 3 ? 'before' : share > 2 / 3 ? 'after' : 'combine';
}

export function drop(e: DragEvent, id: string, card: string, dash: TimeSeries): void {
  const what = dropOf(e, id, card);
  const from = cards.over(e)?.card;
  if (!what || from === undefined) return;
  e.preventDefault();
  if (what === 'combine') dash.combine([...dash.tagsOf(card), ...dash.tagsOf(from)]);
  else movePin(from, view.pins.filter((pin) => pin !== from).indexOf(card) + (what === 'after' ? 1 : 0));
}

/** To be the n-th of the pinned cards. */
export function movePin(card: string, to: number): void {
  const pins = view.pins.filter((pin) => pin !== card);
  pins.splice(Math.max(0, Math.min(pins.length, to)), 0, card);
  view.pins = pins;
}
