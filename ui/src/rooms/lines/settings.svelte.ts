// The viewer's settings of line charts: how tooltips are sorted, and how many rows they have.
import { keep } from '../../public';

export type TooltipSort = 'drawn' | 'nearest' | 'nearestY' | 'descending' | 'ascending' | 'name';
export const TOOLTIP_SORTS: TooltipSort[] = ['drawn', 'nearest', 'nearestY', 'descending', 'ascending', 'name'];

/** The most lines in a tooltip while the pointer moves. */
export const MOST_ROWS = 50;

class LineSettings {
  tooltipSort = $state<TooltipSort>('drawn');
  tooltipRows = $state(12);

  constructor() {
    const isSort = (value: unknown) => (TOOLTIP_SORTS as unknown[]).includes(value);
    keep('lines', this, ['tooltipSort', 'tooltipRows'], (name, value) => name !== 'tooltipSort' || isSort(value));
  }
}

export const lineSettings = new LineSettings();
