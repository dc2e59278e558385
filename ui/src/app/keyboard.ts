// Keys of the whole page. A key is ignored while somebody types, except those with Ctrl or Cmd; the open dashboard adds
// its own (shell.actions).
import { flushSync } from 'svelte';
import { DASHBOARDS } from '../dashboards';
import { hub } from '../data/hub.svelte';
import { t } from './texts/i18n.svelte';
import { openDetails } from './runs/actions';
import { panel } from './runs/panel.svelte';
import { runs } from './runs/runs.svelte';
import { settings } from './settings.svelte';
import { shell, type Action } from './shell.svelte';
import { showRuns, tabs } from './tabs/dashboards';
import { view } from './view/view.svelte';

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
export const MOD = isMac ? '⌘' : 'Ctrl';

export function shellActions(): Action[] {
  return [
    { key: '?', title: t('keys.help'), run: () => (shell.dialog = shell.dialog === 'keys' ? '' : 'keys') },
    { key: 'mod+k', title: t('keys.find'), run: () => (shell.dialog = 'palette') },
    { key: 'mod+z', title: t('keys.undo'), run: () => void view.undo() },
    { key: 'mod+shift+z', title: t('keys.redo'), run: () => void view.redo() },
    { key: 'r', title: t('keys.runFilter'), run: () => focusRuns() },
    { key: '[', title: t('keys.panel'), run: () => (settings.panelOpen = !settings.panelOpen) },
    { key: '\\', title: t('runs.full'), run: () => (view.tableFull = !view.tableFull) },
    {
      key: 'd',
      title: t('run.details'),
      run: () => openDetails(view.details ? null : (panel.activeRun ?? runs.shown[0] ?? null)),
    },
    { key: 't', title: t('keys.theme'), run: () => settings.cycleTheme() },
    { key: 'space', title: t('keys.pause'), run: () => hub.pause(!hub.paused) },
  ];
}

/** The actions of the page and of the open dashboard; where both use a key, the dashboard's wins. */
export function allActions(): Action[] {
  const own = new Set(shell.actions.map(({ key }) => key));
  return [...shellActions().filter(({ key }) => !own.has(key)), ...shell.actions];
}

/** The runs are shown within the event: the next key is typed into the filter. */
function focusRuns(): void {
  flushSync(() => showRuns(DASHBOARDS.find(({ id }) => id === view.tab)));
  document.getElementById('run-filter')?.focus();
}

// inputs that take no letters: a slider keeps the focus after it was dragged, and the keys of the page go on working
const WITHOUT_TEXT = new Set(['range', 'checkbox', 'radio', 'color', 'button', 'submit', 'file']);

const typing = (target: EventTarget | null) =>
  target instanceof HTMLInputElement
    ? !WITHOUT_TEXT.has(target.type)
    : target instanceof HTMLElement && (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName));

/**
 * Enter and Escape leave a search field: Enter keeps what it finds, Escape ends the search. Left to itself, the browser
 * empties the field at Escape and tells nobody. Escape leaves every other field, too.
 */
function leave(e: KeyboardEvent): void {
  const field = e.target as HTMLElement;
  const search = field instanceof HTMLInputElement && field.type === 'search' ? field : null;
  if (e.key === 'Enter' && !search) return;
  if (e.key === 'Escape' && search?.value) {
    e.preventDefault();
    search.value = '';
    search.dispatchEvent(new Event('input', { bubbles: true }));
  }
  field.blur();
}

// Safari tells the Enter that ends a composition after its end; then only this code is left
const COMPOSING = 229;

/** While somebody composes with an input method (Pinyin), keys are its own: Enter takes the letters, Escape drops them. */
export function leaveToInputMethod(e: KeyboardEvent): void {
  if (e.isComposing || e.keyCode === COMPOSING) e.stopImmediatePropagation();
}

export function onKey(e: KeyboardEvent): void {
  if (e.defaultPrevented) return;
  const mod = e.ctrlKey || e.metaKey;
  if (typing(e.target)) {
    if (e.key === 'Escape' || e.key === 'Enter') leave(e);
    if (!(mod && e.key.toLowerCase() === 'k')) return;
  }
  if (e.altKey || ((panel.dialog || shell.isOpening) && !mod)) return;
  if (e.target instanceof HTMLElement && e.target.closest('[popover]') && !mod) return;
  if (e.key === ' ' && e.target instanceof HTMLElement && e.target.closest('button,a,input,[role=menuitem]')) return;
  const name =
    (mod ? 'mod+' : '') + (mod && e.shiftKey ? 'shift+' : '') + (e.key === ' ' ? 'space' : e.key.toLowerCase());
  const action = allActions().find((a) => a.key === name);
  if (action) {
    if (shell.dialog && action.key !== '?' && !mod) return;
    e.preventDefault();
    action.run();
    return;
  }
  if (!mod && /^[1-9]$/.test(e.key) && !shell.dialog) {
    const tab = tabs()[Number(e.key) - 1];
    if (tab) view.tab = tab.id;
  }
}

/** A key as people read it. */
export function keyText(key: string): string {
  return key
    .split('+')
    .map((part) =>
      part === 'mod'
        ? MOD
        : part === 'shift'
          ? '⇧'
          : part === 'space'
            ? t('keys.space')
            : part.length === 1
              ? part.toUpperCase()
              : part,
    )
    .join(' ');
}
