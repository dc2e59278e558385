// The viewer's settings of the time series dashboard: download links on cards, the tables below charts.
import { keep } from '../../public';

/** The columns of a table below a chart, in order: for a single position, and for a range. */
export interface TableColumns {
  single: readonly string[];
  range: readonly string[];
}

export const DEFAULT_COLUMNS: TableColumns = {
  single: ['run', 'smoothed', 'value', 'step', 'relative'],
  range: ['run', 'min', 'max', 'mean', 'start', 'end', 'change', 'percent', 'startStep', 'endStep'],
};
export const LEAST_PICTURE = 200; // pixels
export const MOST_PICTURE = 8000;
const LEAST_HEIGHT = 48;
const MOST_HEIGHT = 600;

const areNames = (list: unknown) => Array.isArray(list) && list.every((name) => typeof name === 'string');

class TimeSeriesSettings {
  /** show links to the data and to an image of the chart on every card */
  downloadLinks = $state(false);
  tableHeight = $state(108);
  /** size of exported images in pixels, as it was last chosen */
  pictureSize = $state.raw<readonly [number, number]>([1200, 800]);
  tableColumns = $state.raw<TableColumns>(DEFAULT_COLUMNS);

  constructor() {
    keep('ts', this, ['downloadLinks', 'tableHeight', 'tableColumns', 'pictureSize'], (name, value) => {
      if (name === 'pictureSize')
        return (
          Array.isArray(value) && value.length === 2 && value.every((n) => n >= LEAST_PICTURE && n <= MOST_PICTURE)
        );
      if (name !== 'tableColumns') return true;
      const { single, range } = value as Partial<TableColumns>;
      return areNames(single) && areNames(range);
    });
  }

  resizeTable(height: number): void {
    this.tableHeight = Math.round(Math.min(MOST_HEIGHT, Math.max(LEAST_HEIGHT, height)));
  }
}

export const tsSettings = new TimeSeriesSettings();
