// Texts in the viewer's language: t('key', { n: 3 }). One catalogue a language; English is the measure of the others.
// Reading t() in a component follows the language by itself.
import { en, type Catalogue, type Key } from './en';
import { zh } from './zh';
import { settings } from './settings.svelte';

export const LANGUAGES: Record<string, Catalogue> = { en, zh };
export type { Key };

export function languageOf(chosen: string, wanted: readonly string[]): string {
  if (chosen in LANGUAGES) return chosen;
  for (const tag of wanted) {
    const base = tag.toLowerCase().split('-')[0];
    if (base in LANGUAGES) return base;
  }
  return 'en';
}

export const language = (): string => languageOf(settings.language, navigator.languages ?? []);

/** The language as dates want it: with the viewer's own region, where the browser says one. */
export const locale = (): string =>
  (navigator.languages ?? []).find((tag) => tag.toLowerCase().split('-')[0] === language()) ?? language();

export function fill(text: string, values?: Record<string, string | number>): string {
  return values
    ? text.replace(/\{(\w+)\}/g, (all, name: string) => (name in values ? String(values[name]) : all))
    : text;
}

export function t(key: Key, values?: Record<string, string | number>): string {
  return fill(LANGUAGES[language()][key], values);
}
