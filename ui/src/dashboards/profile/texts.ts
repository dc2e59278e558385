// The dashboard's own texts; what it shares with others is in the house's catalogue.
import { Texts } from '../../public';
import type { Key } from './en';

export const texts = new Texts<Key>({ en: () => import('./en'), zh: () => import('./zh') });
export const { t: tt } = texts;
