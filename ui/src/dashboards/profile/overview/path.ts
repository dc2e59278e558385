// How sure a critical path is, in words.
import { format, type ProfilePath } from '../../../public';
import { tt } from '../texts';

export function certaintyOf({ linked, guesses }: ProfilePath): string {
  if (guesses === 0) return tt('path.certain');
  const text = tt('path.guesses', { n: format.count(guesses) });
  return linked ? text : `${text} ${tt('path.unlinked')}`;
}
