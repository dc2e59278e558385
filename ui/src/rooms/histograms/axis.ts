// The axis of steps: the one that all dashboards share, where histograms have a place on it.
import { format, t, type Grid, type X } from '../../public';
import { placeText } from '../steps/places';
import { xsOf } from './grid';

export type StepAxis = 'step' | 'relative' | 'wall';
/** Along another metric a histogram has no place: then its steps count. */
export const stepAxis = (x: X): StepAxis => (x === 'relative' || x === 'wall' ? x : 'step');

/** On a label: short. */
export const stepText = (grid: Grid, x: StepAxis, i: number): string => placeText(x, xsOf(grid, x)[i]);

/** "step 46 000 · 3 h 12 min" */
export const stepHead = (grid: Grid, i: number): string =>
  `${t('tip.step', { n: format.count(grid.step[i]) })} · ${format.duration(grid.wall[i] - grid.firstWall)}`;
