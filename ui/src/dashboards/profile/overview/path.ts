// How sure a critical path is, in words.
import { format, type ProfilePath } from '../../../public';
import { tt } from '../texts';

export function certaintyOf({ linked, guesses }: ProfilePath): string {
  if (guesses === 0) return tt('path.certain');
  const text = tt('path.guesses', { n: format.count(guesses) });
  return linked ? text : `${text} ${tt('path.unlinked')}`;
}

/** The server sends a limited number of pieces: which part of the path the timeline marks. "": all of it. */
export const cutOf = ({ total, pieces }: ProfilePath): string =>
  total > pieces.length ? tt('path.cut', { shown: format.count(pieces.length), n: format.count(total) }) : '';
