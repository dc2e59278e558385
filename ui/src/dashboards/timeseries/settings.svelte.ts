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
const LEAST_HEIGHT = 48;
const MOST_HEIGHT = 600;

const areNames = (list: unknown) => Array.isArray(list) && list.every((name) => typeof name === 'string');

class TimeSeriesSettings {
  /** links to data and chart on every card */
  downloadLinks = $state(false);
  tableHeight = $state(108);
  tableColumns = $state.raw<TableColumns>(DEFAULT_COLUMNS);

  constructor() {
    keep('ts', this, ['downloadLinks', 'tableHeight', 'tableColumns'], (name, value) => {
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
