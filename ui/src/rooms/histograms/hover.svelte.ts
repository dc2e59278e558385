// The step under the pointer, shared by all cards of histograms and distributions: pointing at one marks it in all.
import type { Hit } from './picture';

export interface Hover {
  place: string; // the place of the card, with the panel if the card has several
  step: number;
  hit: Hit;
  at: { left: number; top: number }; // position in the window
}

class Hovered {
  now = $state.raw<Hover | null>(null);

  /** `hit` is null when the pointer left the card at this place. */
  set(place: string, step: number, hit: Hit | null, at: { left: number; top: number }): void {
    if (hit) this.now = { place, step, hit, at };
    else if (this.now?.place === place) this.now = null;
  }
  of(place: string): Hover | null {
    return this.now?.place === place ? this.now : null;
  }
  /** The step under the pointer, if the pointer is on another card. */
  elsewhere(place: string): number | null {
    return this.now && this.now.place !== place ? this.now.step : null;
  }
}

export const hovered = new Hovered();
