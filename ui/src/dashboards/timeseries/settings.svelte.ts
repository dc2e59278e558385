// The viewer's settings of the time series: links to data on cards, the tables under charts.
import { keep } from '../../public';

/** The columns of a table under a chart, in order: of one place, and of a range. */
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
  /** links to data and chart on every card */
  downloadLinks = $state(false);
  tableHeight = $state(108);
  /** of exported pictures, as it was chosen last */
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
