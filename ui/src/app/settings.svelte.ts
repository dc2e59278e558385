// What belongs to the viewer and not to the view: theme, language, panel width, tooltip. Kept in local storage, which
// may be forbidden; then it lasts as long as the page.

export type ThemeChoice = 'system' | 'light' | 'dark';
export type TooltipSort = 'nearest' | 'nearestY' | 'descending' | 'ascending' | 'name';

interface Stored {
  theme: ThemeChoice;
  language: string;
  panel: number;
  panelOpen: boolean;
  drawer: number;
  tooltipSort: TooltipSort;
  tooltipRows: number;
}

const KEY = 'seaboard.settings';
const DEFAULTS: Stored = { theme: 'system', language: '', panel: 336, panelOpen: true, drawer: 400, tooltipSort: 'nearest', tooltipRows: 12 };

function load(): Stored {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Stored>) };
  } catch {
    return { ...DEFAULTS };
  }
}

class Settings {
  private readonly first = load();
  theme = $state<ThemeChoice>(this.first.theme);
  language = $state(this.first.language);
  panel = $state(this.first.panel);
  panelOpen = $state(this.first.panelOpen);
  drawer = $state(this.first.drawer);
  tooltipSort = $state<TooltipSort>(this.first.tooltipSort);
  tooltipRows = $state(this.first.tooltipRows);
  systemDark = $state(matchMedia('(prefers-color-scheme: dark)').matches);

  get dark(): boolean {
    return this.theme === 'dark' || (this.theme === 'system' && this.systemDark);
  }

  /** Inside an effect: follows the system, marks the page, keeps what was chosen. */
  follow(): void {
    const query = matchMedia('(prefers-color-scheme: dark)');
    query.addEventListener('change', () => (this.systemDark = query.matches));
    $effect(() => {
      document.documentElement.dataset.theme = this.dark ? 'dark' : 'light';
    });
    $effect(() => {
      const { theme, language, panel, panelOpen, drawer, tooltipSort, tooltipRows } = this;
      try {
        localStorage.setItem(KEY, JSON.stringify({ theme, language, panel, panelOpen, drawer, tooltipSort, tooltipRows } satisfies Stored));
      } catch {
        // not allowed here
      }
    });
  }

  cycleTheme(): void {
    this.theme = this.dark ? 'light' : 'dark';
  }
}

export const settings = new Settings();
