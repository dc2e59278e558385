// The cards of clips: for each tag, one for each shown run that has it. Also the length of the longest clip of each tag,
// because all cards of a tag share one time axis.
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
  /** The seconds of the longest clip of this tag on the page. */
  longestOf(tag: string): number {
    let longest = 0;
    for (const [card, seconds] of this.seconds) if (cardOf(card).tags[0] === tag) longest = Math.max(longest, seconds);
    return longest;
  }
}
export const lengths = new Lengths();
