// Cards of several tags. A card is known by one string everywhere (address, pins, zoom): its tag, or its tags with a
// unit separator between them, a character that nobody types.
import { splitTag } from '../../public';

export const SEPARATOR = '\u001f';
/** How the lines of each tag are drawn, first to last. */
const DASHES: readonly number[][] = [[], [6, 3], [2, 3], [9, 3, 2, 3], [1, 4], [12, 4]];

export const dashOf = (at: number): number[] => DASHES[at % DASHES.length];
export const joinTags = (tags: readonly string[]): string => [...new Set(tags)].join(SEPARATOR);

/** A tag that has the separator in its own name is still one tag. */
export function tagsOf(card: string, isTag: (name: string) => boolean): string[] {
  return !card.includes(SEPARATOR) || isTag(card) ? [card] : card.split(SEPARATOR);
}

/** [grey, bold] of a card's title: what the tags share at their end is the bold part. */
export function titleOf(tags: readonly string[]): [string, string] {
  if (tags.length === 1) return splitTag(tags[0]);
  const parts = tags.map((tag) => splitTag(tag));
  const last = parts[0][1];
  if (parts.every(([path, name]) => name === last && path !== ''))
    return [`${parts.map(([path]) => path.replace(/\/$/, '')).join(' + ')}/`, last];
  return ['', tags.join(' + ')];
}

/** For people and for files. */
export const nameOf = (tags: readonly string[]): string => tags.join(' + ');

/** All cards in order: several tags that are one card stand where the first of them would. */
export function cardsOf(tags: readonly string[], groups: readonly (readonly string[])[]): string[] {
  const keyOfFirst = new Map<string, string>();
  const taken = new Set<string>();
  const known = new Set(tags);
  for (const group of groups) {
    const present = group.filter((tag) => known.has(tag) && !taken.has(tag));
    if (present.length < 2) continue;
    keyOfFirst.set(present[0], joinTags(present));
    for (const tag of present) taken.add(tag);
  }
  return tags.flatMap((tag) => {
    const key = keyOfFirst.get(tag);
    if (key !== undefined) return [key];
    return taken.has(tag) ? [] : [tag];
  });
}
