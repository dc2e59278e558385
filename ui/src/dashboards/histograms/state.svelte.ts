// The cards of histograms: one for each run and tag, of the runs that are shown; or one for each tag, with all its runs.
import { cardKey, hub, runs, type Tag } from '../../public';
import { Cards } from '../../rooms/cards/cards.svelte';
import { grid, histView } from './view.svelte';

export const PLUGIN = 'histograms';

/** A card for each of the runs that have the tag. */
export function cardsOfRuns(tags: readonly Tag[], showAll: boolean): string[] {
  const wanted = showAll ? hub.runs : runs.shown;
  return tags.flatMap(({ tag, runs: has }) => {
    const ids = has === 'all' ? null : new Set(has);
    return wanted
      .filter((run) => !ids || ids.has(run.id))
      .map((run) => cardKey({ plugin: PLUGIN, tags: [tag], run: run.name }));
  });
}

export const heightOf = (_: string, isWide: boolean): number => (isWide ? 400 : 300);

export const histogramCards = (): Cards =>
  new Cards(grid, {
    plugins: [PLUGIN],
    cardsOf: (tags) =>
      histView.mode === 'runs'
        ? tags.map(({ tag }) => cardKey({ plugin: PLUGIN, tags: [tag] }))
        : cardsOfRuns(tags, grid.emptyCards),
  });
