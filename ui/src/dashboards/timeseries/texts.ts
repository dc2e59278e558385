// The texts of this dashboard. Texts that several dashboards use are in app/texts.
import { Texts } from '../../public';
import type { Key as FirstKey } from './en';
import type { PartKey } from './parts/en';

export type Key = FirstKey | PartKey;
export const texts = new Texts<Key>(
  { en: () => import('./en'), zh: () => import('./zh') },
  { en: () => import('./parts/en'), zh: () => import('./parts/zh') },
);
export const { t: tt } = texts;
