// Cards of one run and one tag: for each tag, one card for each shown run that has it.
import { cardKey, hub, runs, type Run, type Tag } from '../../public';

/** The shown runs that have the tag; with `showAll`, also the hidden ones. */
export function runsWith({ runs: has }: Tag, showAll: boolean): Run[] {
  const wanted = showAll ? hub.runs : runs.shown;
  if (has === 'all') return wanted;
  const ids = new Set(has);
  return wanted.filter(({ id }) => ids.has(id));
}

export const cardsOfRuns = (plugin: string, tags: readonly Tag[], showAll: boolean): string[] =>
  tags.flatMap((tag) => runsWith(tag, showAll).map(({ name }) => cardKey({ plugin, tags: [tag.tag], run: name })));
