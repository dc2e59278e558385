// Applies a reply of `changes` to the lists that the page holds: runs that changed, began or are gone, and series that
// began. Lists that nothing changed keep their identity, so that what is derived from them is not computed again.
import type { Changes, Run, Tag } from './types';

/** A tag's identity: two plugins may use the same name. */
export const tagKey = (plugin: string, tag: string): string => `${plugin}\n${tag}`;

export function mergeRuns(runs: Run[], news: Changes): Run[] {
  if (news.runs.length === 0 && news.gone.length === 0) return runs;
  const fresh = new Map(news.runs.map((run) => [run.id, run]));
  const gone = new Set(news.gone.map(({ id }) => id));
  const merged: Run[] = [];
  for (const run of runs) {
    if (!gone.has(run.id)) merged.push(fresh.get(run.id) ?? run);
    fresh.delete(run.id);
  }
  for (const run of fresh.values()) if (!gone.has(run.id)) merged.push(run);
  return merged;
}

/** The tags after the news; `isComplete` is false when the list has to be asked for: a tag or a run is unknown. */
export function mergeTags(
  tags: Tag[],
  news: Changes,
  isKnownRun: (id: number) => boolean,
): { tags: Tag[]; isComplete: boolean } {
  const began = new Map<string, number[]>();
  for (const [run, tag, , plugin, isNew] of news.series) {
    if (!isNew) continue;
    const key = tagKey(plugin, tag);
    const runs = began.get(key);
    if (runs) runs.push(run);
    else began.set(key, [run]);
  }
  const gone = new Set(news.gone.map(({ id }) => id));
  // "all" means all runs that were known when it was said
  let isComplete = !news.more && news.runs.every(({ id }) => isKnownRun(id));
  if (began.size === 0 && gone.size === 0) return { tags, isComplete };
  const merged: Tag[] = [];
  for (const tag of tags) {
    const key = tagKey(tag.plugin, tag.tag);
    const added = began.get(key);
    began.delete(key);
    if (tag.runs === 'all' || (!added && gone.size === 0)) {
      merged.push(tag);
      continue;
    }
    const runs = new Set(tag.runs);
    added?.forEach((id) => runs.add(id));
    gone.forEach((id) => runs.delete(id));
    if (runs.size > 0) merged.push({ ...tag, runs: [...runs] });
  }
  if (began.size > 0) isComplete = false;
  return { tags: merged, isComplete };
}
