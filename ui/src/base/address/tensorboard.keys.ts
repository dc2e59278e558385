// How a link of TensorBoard is known: its keys in the query string and in the hash, and the theme that it asks for. What the
// keys say is read by tensorboard.ts.
import { parseHash } from './hash';

export interface Link {
  hash: string;
  search: string;
}

/** Keys of the hash that become part of the view. */
export const TENSORBOARD_HASH = ['tagFilter', '_smoothingWeight', 'regexInput', 'runSelectionState'];
export const TENSORBOARD_QUERY = new Set(['tagFilter', 'smoothing', 'runFilter', 'runColorGroup', 'pinnedCards']);

export function isTensorBoardLink({ hash, search }: Link): boolean {
  const { values } = parseHash(hash);
  return (
    TENSORBOARD_HASH.some((key) => values.has(key)) ||
    [...new URLSearchParams(search).keys()].some((key) => TENSORBOARD_QUERY.has(key))
  );
}

/** What the query wants of the theme: TensorBoard's darkMode. */
export function themeOf(search: string): '' | 'light' | 'dark' {
  const wanted = new URLSearchParams(search).get('darkMode');
  return wanted === 'true' ? 'dark' : wanted === 'false' ? 'light' : '';
}
