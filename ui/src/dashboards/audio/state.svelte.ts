// The cards of clips: one for each run and tag, of the runs that are shown, tag by tag; and how long the clips of a tag
// are, since all cards of a tag share one time axis.
import { untrack } from 'svelte';
import { SvelteMap } from 'svelte/reactivity';
import { cardOf } from '../../public';
import { Cards } from '../../rooms/cards/cards.svelte';
import { cardsOfRuns } from '../../rooms/cards/ofruns';
import { grid } from './view.svelte';

export const PLUGIN = 'audio';

export const audioCards = (): Cards =>
  new Cards(grid, { plugins: [PLUGIN], cardsOf: (tags) => cardsOfRuns(PLUGIN, tags, grid.emptyCards) });

class Lengths {
  private readonly seconds = new SvelteMap<string, number>();

  set(card: string, seconds: number): void {
    untrack(() => this.seconds.set(card, seconds));
  }
  forget(card: string): void {
    untrack(() => this.seconds.delete(card));
  }
  /** The longest clip of this tag that is on the page. */
  longestOf(tag: string): number {
    let longest = 0;
    for (const [card, seconds] of this.seconds) if (cardOf(card).tags[0] === tag) longest = Math.max(longest, seconds);
    return longest;
  }
}
export const lengths = new Lengths();
