// The texts of histograms and distributions. Both dashboards use them, and they are loaded with either.
import { Texts } from '../../public';
import type { Key } from './en';

export const histogramTexts = new Texts<Key>({ en: () => import('./en'), zh: () => import('./zh') });
export const { t: ht } = histogramTexts;
export type { Key as HistogramKey };
