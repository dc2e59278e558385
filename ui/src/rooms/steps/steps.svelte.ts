// Which place or range is selected on which card, and the switches for it. All of it is in the address.
import { asRange, asSingle, COMMON, LAST, metricOf, settings, shell, t, view, WHOLE, type Place } from '../../public';

const LEAST_TABLE = 48;
const MOST_TABLE = 600;

class Selection {
  /** a handle is in somebody's hand */
  held = $state(false);

  /** Along another metric one place may be many steps: nothing is selected there. */
  get possible(): boolean {
    return metricOf(view.x) === null;
  }

  get on(): boolean {
    return view.selecting !== 'off' && this.possible;
  }

  /** null: taken away. A card whose own has not been set has the common one; at first the newest point, or all. */
  placeOf(card: string): Place | null {
    const own = view.linked ? undefined : view.places.get(card);
    const place = own === undefined ? view.places.get(COMMON) : own;
    return place === undefined ? (view.selecting === 'range' ? WHOLE : LAST) : place;
  }

  set(card: string, place: Place | null): void {
    const next = new Map(view.places);
    next.set(view.linked ? COMMON : card, place);
    view.places = next;
  }

  toggle(): void {
    if (!this.possible) {
      shell.say(t('select.notAlong', { tag: metricOf(view.x) ?? '' }));
      return;
    }
    view.selecting = this.on ? 'off' : 'step';
    if (!this.on) view.places = new Map();
  }

  toggleRange(): void {
    const isRange = view.selecting === 'range';
    view.selecting = isRange ? 'step' : 'range';
    const change = isRange ? asSingle : asRange;
    view.places = new Map([...view.places].map(([card, place]) => [card, place && change(place)]));
  }

  /** Linked: all cards take the selection of this one. Apart again: each begins with what they had in common. */
  toggleLink(card: string): void {
    if (!view.linked) {
      const place = view.places.get(card) ?? view.places.get(COMMON);
      view.places = place === undefined ? new Map() : new Map([[COMMON, place]]);
    }
    view.linked = !view.linked;
  }

  resizeTable(height: number): void {
    settings.tableHeight = Math.round(Math.min(MOST_TABLE, Math.max(LEAST_TABLE, height)));
  }
}

export const selection = new Selection();
