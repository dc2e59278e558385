// What belongs to the viewer and not to the view: theme, language, panel width, tooltip, tables. Kept in local storage, which
// may be forbidden; then it lasts as long as the page. A new one is a line in Stored, in DEFAULTS and in the class.

export type ThemeChoice = 'system' | 'light' | 'dark';
export type TooltipSort = 'nearest' | 'nearestY' | 'descending' | 'ascending' | 'name';
/** The columns of a table under a chart, in order: of one place, and of a range. */
export interface TableColumns {
  single: string[];
  range: string[];
}

interface Stored {
  theme: ThemeChoice;
  language: string;
  panel: number;
  panelOpen: boolean;
  drawer: number;
  tooltipSort: TooltipSort;
  tooltipRows: number;
  /** follow the logs from the start */
  live: boolean;
  /** pinned tags come back where nothing else is asked for */
  savePins: boolean;
  /** links to data and chart on every card */
  downloadLinks: boolean;
  /** cards of a group that are shown at a time; 0: all of them */
  pageSize: number;
  tableHeight: number;
  tableColumns: TableColumns;
}

const KEY = 'seaboard.settings';
const NARROW = 760; // the runs are a sheet over the cards: not open by itself
const DEFAULTS: Stored = {
  theme: 'system',
  language: '',
  panel: 336,
  panelOpen: true,
  drawer: 400,
  tooltipSort: 'nearest',
  tooltipRows: 12,
  live: true,
  savePins: true,
  downloadLinks: false,
  pageSize: 0,
  tableHeight: 108,
  tableColumns: {
    single: ['run', 'smoothed', 'value', 'step', 'relative'],
    range: ['run', 'min', 'max', 'start', 'end', 'change', 'percent', 'startStep', 'endStep'],
  },
};
export const DEFAULT_COLUMNS: Readonly<TableColumns> = DEFAULTS.tableColumns;
const KEYS = Object.keys(DEFAULTS) as (keyof Stored)[];

/** What was kept, as far as it has the type it should have. */
function load(): Stored {
  const kept: Record<string, unknown> = { ...DEFAULTS };
  try {
    const read: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    if (read && typeof read === 'object')
      for (const [key, value] of Object.entries(read)) if (typeof value === typeof kept[key]) kept[key] = value;
  } catch {
    // forbidden, or not ours
  }
  return kept as unknown as Stored;
}

function columnsOf(kept: Partial<TableColumns>): TableColumns {
  const names = (kind: keyof TableColumns) => {
    const list: unknown = kept[kind];
    return Array.isArray(list) && list.every((v) => typeof v === 'string') ? list : DEFAULT_COLUMNS[kind];
  };
  return { single: names('single'), range: names('range') };
}

class Settings implements Stored {
  private readonly first = load();
  theme = $state<ThemeChoice>(this.first.theme);
  language = $state(this.first.language);
  panel = $state(this.first.panel);
  panelOpen = $state(this.first.panelOpen && innerWidth > NARROW);
  drawer = $state(this.first.drawer);
  tooltipSort = $state<TooltipSort>(this.first.tooltipSort);
  tooltipRows = $state(this.first.tooltipRows);
  live = $state(this.first.live);
  savePins = $state(this.first.savePins);
  downloadLinks = $state(this.first.downloadLinks);
  pageSize = $state(this.first.pageSize);
  tableHeight = $state(this.first.tableHeight);
  tableColumns = $state.raw<TableColumns>(columnsOf(this.first.tableColumns));
  systemDark = $state(matchMedia('(prefers-color-scheme: dark)').matches);
  /** the address wants it so; until the viewer chooses */
  forced = $state<'' | 'light' | 'dark'>('');

  get dark(): boolean {
    const theme = this.forced || this.theme;
    return theme === 'dark' || (theme === 'system' && this.systemDark);
  }

  /** Inside an effect: follows the system, marks the page, keeps what was chosen. */
  follow(): void {
    const query = matchMedia('(prefers-color-scheme: dark)');
    query.addEventListener('change', () => (this.systemDark = query.matches));
    $effect(() => {
      document.documentElement.dataset.theme = this.dark ? 'dark' : 'light';
    });
    $effect(() => {
      const kept = Object.fromEntries(KEYS.map((key) => [key, this[key]]));
      if (innerWidth <= NARROW) kept.panelOpen = this.first.panelOpen;
      try {
        localStorage.setItem(KEY, JSON.stringify(kept));
      } catch {
        // not allowed here
      }
    });
  }

  chooseTheme(theme: ThemeChoice): void {
    this.forced = '';
    this.theme = theme;
  }

  cycleTheme(): void {
    this.chooseTheme(this.dark ? 'light' : 'dark');
  }
}

export const settings = new Settings();
