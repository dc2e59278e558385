// What a card is called, from its tags.
import { splitTag } from '../../public';

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
