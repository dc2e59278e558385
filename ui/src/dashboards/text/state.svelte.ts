// The cards of texts: one for each run and tag, of the runs that are shown, tag by tag.
import { cardKey, hub, runs, type Tag } from '../../public';
import { Cards } from '../../rooms/cards/cards.svelte';
import { grid } from './view.svelte';

export const PLUGIN = 'text';

function cardsOf(tags: readonly Tag[]): string[] {
  const wanted = grid.emptyCards ? hub.runs : runs.shown;
  return tags.flatMap(({ tag, runs: has }) => {
    const ids = has === 'all' ? null : new Set(has);
    return wanted
      .filter((run) => !ids || ids.has(run.id))
      .map((run) => cardKey({ plugin: PLUGIN, tags: [tag], run: run.name }));
  });
}

export const textCards = (): Cards => new Cards(grid, { plugins: [PLUGIN], cardsOf });
