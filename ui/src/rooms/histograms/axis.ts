// The step axis of histograms: the x axis that all dashboards share, if histograms can be placed on it.
import { format, t, type Grid, type X } from '../../public';
import { placeText } from '../steps/places';
import { xsOf } from './grid';

export type StepAxis = 'step' | 'relative' | 'wall';
/**
 * The axis to use for an x axis of the charts. If x is another metric, histograms have no position on it, and steps are
 * used.
 */
export const stepAxis = (x: X): StepAxis => (x === 'relative' || x === 'wall' ? x : 'step');

/** The short text of a step for a label. */
export const stepText = (grid: Grid, x: StepAxis, i: number): string => placeText(x, xsOf(grid, x)[i]);

/** "step 46 000 · 3 h 12 min" */
export const stepHead = (grid: Grid, i: number): string =>
  `${t('tip.step', { n: format.count(grid.step[i]) })} · ${format.duration(grid.wall[i] - grid.firstWall)}`;
