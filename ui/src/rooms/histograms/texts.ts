// What histograms and distributions say; loaded with either of them.
import { Texts } from '../../public';
import type { Key } from './en';

export const histogramTexts = new Texts<Key>({ en: () => import('./en'), zh: () => import('./zh') });
export const { t: ht } = histogramTexts;
export type { Key as HistogramKey };
