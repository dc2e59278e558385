// The texts of this dashboard. Texts that several dashboards use are in app/texts.
import { format, Texts } from '../../public';
import type { Key } from './en';

export const texts = new Texts<Key>({ en: () => import('./en'), zh: () => import('./zh') });
export const { t: tt } = texts;

type Counted = 'renamed' | 'totalOps' | 'ops' | 'odds' | 'constantInputs' | 'operations' | 'uses';
/** A text with a number in it, or the text for exactly one ("1 operation"). */
export const counted = (key: Counted, n: number): string =>
  n === 1 ? tt(`${key}One`) : tt(key, { n: format.count(n), ops: format.count(n) });
