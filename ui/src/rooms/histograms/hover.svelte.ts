// The step under the pointer, shared by all cards of histograms and distributions: pointing at one marks it in all.
import type { Hit } from './picture';

export interface Hover {
  place: string; // of the card; with a panel, where it has several
  step: number;
  hit: Hit;
  at: { left: number; top: number }; // in the window
}

class Hovered {
  now = $state.raw<Hover | null>(null);

  /** null: the pointer left the card at this place. */
  set(place: string, step: number, hit: Hit | null, at: { left: number; top: number }): void {
    if (hit) this.now = { place, step, hit, at };
    else if (this.now?.place === place) this.now = null;
  }
  of(place: string): Hover | null {
    return this.now?.place === place ? this.now : null;
  }
  /** The step that another card points at. */
  elsewhere(place: string): number | null {
    return this.now && this.now.place !== place ? this.now.step : null;
  }
}

export const hovered = new Hovered();
