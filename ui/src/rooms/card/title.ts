// The title of a card, made from its tags.
import { splitTag } from '../../public';

/**
 * The grey and the bold part of a card's title, and what follows them in grey: "/text_summary", which torch and tensorboardX append
 * to the tag of every text, tells no card from another. If all tags end with the same name, that name is the bold part.
 */
export function titleOf(tags: readonly string[]): [string, string, string?] {
  if (tags.length === 1) {
    const [tag, said] = tags[0].split(/(?<=.)(\/text_summary)$/);
    return [...splitTag(tag), said];
  }
  const parts = tags.map((tag) => splitTag(tag));
  const last = parts[0][1];
  if (parts.every(([path, name]) => name === last && path !== ''))
    return [`${parts.map(([path]) => path.replace(/\/$/, '')).join(' + ')}/`, last];
  return ['', tags.join(' + ')];
}

/** The name of a card for people and for file names. */
export const nameOf = (tags: readonly string[]): string => tags.join(' + ');

const LONG = 16; // longest title, in letters, that is assumed to fit always
const END = 11; // letters at the end of a longer title that are never cut

/**
 * Splits a title (without its path) into a beginning, which may be cut at its end, and an end, which always stays
 * visible. The end is '' for short titles. The beginning is '' if the title itself is short: it is then shown whole, and
 * only its path is cut.
 */
export function cutInMiddle(path: string, title: string): [string, string] {
  const letters = [...title];
  if (path.length + letters.length <= LONG) return [title, ''];
  const at = letters.length <= LONG ? 0 : letters.length - END;
  return [letters.slice(0, at).join(''), letters.slice(at).join('')];
}
