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

const LONG = 16; // letters of a title that may not fit
const END = 11; // of them stay whatever the room

/**
 * A title without its path as its beginning, which may be cut off at its end, and what stays behind that; '' for short titles. A name
 * that hardly has a beginning stays whole.
 */
export function cutInMiddle(path: string, title: string): [string, string] {
  const letters = [...title];
  if (path.length + letters.length <= LONG) return [title, ''];
  const at = letters.length <= LONG ? 0 : letters.length - END;
  return [letters.slice(0, at).join(''), letters.slice(at).join('')];
}
