// What belongs to the viewer and not to the view: theme, language, width of panels. Kept in local storage, which may be
// forbidden; then it lasts as long as the page. Rooms and dashboards keep settings of their own the same way: keep().

const KEY = 'seaboard.settings';
const SHORT = 640; // a frame in a notebook: the runs are a strip
const NARROW = 760; // the runs are a sheet over the cards: not open by itself

function readStored(): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return read && typeof read === 'object' ? { ...read } : {};
  } catch {
    return {}; // local storage is disabled, or holds something else
  }
}
let stored: Record<string, unknown> | null = null;

/**
 * Sets these properties of `of`, which are state with their defaults, to what was stored, and stores what they become.
 * What was stored counts where it has the type of the default and `isGood`. It is stored as "prefix.name".
 */
export function keep<T extends object, K extends keyof T & string>(
  prefix: string,
  of: T,
  names: readonly K[],
  isGood: (name: K, value: unknown) => boolean = () => true,
): void {
  const all = (stored ??= readStored());
  const keyOf = (name: K) => (prefix ? `${prefix}.${name}` : name);
  for (const name of names) {
    const value = all[keyOf(name)];
    if (typeof value === typeof of[name] && isGood(name, value)) of[name] = value as T[K];
  }
  $effect.root(() => {
    $effect(() => {
      for (const name of names) all[keyOf(name)] = of[name];
      try {
        localStorage.setItem(KEY, JSON.stringify(all));
      } catch {
        // local storage is disabled
      }
    });
  });
}

export type ThemeChoice = 'system' | 'light' | 'dark';

class Settings {
  theme = $state<ThemeChoice>('system');
  language = $state('');
  panel = $state(336);
  panelOpen = $state(innerWidth > NARROW && innerHeight > SHORT);
  /** Where a dashboard has a panel of its own, that panel is shown at the left instead of the runs. */
  ownPanel = $state(true);
  drawer = $state(400);
  /** follow the logs from the start */
  live = $state(true);
  /** Pinned cards are restored when the page is opened without a view in its address. */
  savePins = $state(true);
  systemDark = $state(matchMedia('(prefers-color-scheme: dark)').matches);
  /** The theme that the address asks for, until the viewer chooses another. */
  forced = $state<'' | 'light' | 'dark'>('');

  constructor() {
    keep('', this, ['theme', 'language', 'panel', 'ownPanel', 'drawer', 'live', 'savePins']);
    if (innerWidth > NARROW && innerHeight > SHORT) keep('', this, ['panelOpen']);
  }

  get dark(): boolean {
    const theme = this.forced || this.theme;
    return theme === 'dark' || (theme === 'system' && this.systemDark);
  }

  /** Inside an effect: follows the system and marks the page. */
  follow(): void {
    const query = matchMedia('(prefers-color-scheme: dark)');
    query.addEventListener('change', () => (this.systemDark = query.matches));
    $effect(() => {
      document.documentElement.dataset.theme = this.dark ? 'dark' : 'light';
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
