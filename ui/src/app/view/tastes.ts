// Preferences: parts of the view that local storage keeps, and that are restored when the page is opened without a view in
// its address. An address that says anything is never added to, so that a link shows everybody the same.
import { view } from './view.svelte';

const PINS = 'pins';
const KEY = 'seaboard.tastes';

export function loadTastes(withPins: boolean): Map<string, string> {
  const tastes = new Map<string, string>();
  try {
    const read: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    if (read && typeof read === 'object')
      for (const [key, value] of Object.entries(read))
        if (typeof value === 'string' && (withPins || key !== PINS)) tastes.set(key, value);
  } catch {
    // local storage is disabled, or holds something else
  }
  return tastes;
}

let written = ''; // the view changes with every frame of a drag, these seldom

/** Preferences of parts that are not loaded are kept as they were stored. */
export function keepTastes(values: ReadonlyMap<string, string>, withPins: boolean): void {
  const kept = new Map([...loadTastes(withPins)].filter(([key]) => view.isTaste(key) === undefined));
  for (const [key, value] of values) if (view.isTaste(key) && (withPins || key !== PINS)) kept.set(key, value);
  const text = JSON.stringify(Object.fromEntries(kept));
  if (text === written) return;
  written = text;
  try {
    localStorage.setItem(KEY, text);
  } catch {
    // local storage is disabled
  }
}
