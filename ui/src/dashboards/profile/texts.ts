// The dashboard's own texts; what it shares with others is in the house's catalogue.
import { Texts } from '../../public';
import type { Key } from './en';
import { OWN_NAMES } from './ownNames';

export const texts = new Texts<Key>({ en: () => import('./en'), zh: () => import('./zh') });
export const { t: tt } = texts;

/** The name of a track or a slice, as the page shows it. */
export function shownName(name: string): string {
  const key = OWN_NAMES.get(name);
  return key ? tt(key) : name;
}
