// The texts of this dashboard. Texts that several dashboards use are in app/texts.
import { Texts } from '../../public';
import type { Key } from './en';

export const texts = new Texts<Key>({ en: () => import('./en'), zh: () => import('./zh') });
export const { t: tt } = texts;
