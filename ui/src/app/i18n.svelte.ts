// Texts in the viewer's language: t('key', { n: 3 }). A catalogue has one file a language, and only that of the language
// on the page is loaded. The shell and the rooms share one catalogue; each dashboard has its own. English is the measure
// of the others. Reading t() in a component follows the language by itself.
import type { Key } from './en';

export const LANGUAGES = ['en', 'zh'] as const;
export type Language = (typeof LANGUAGES)[number];
/** A few words in every language, for what must be there before a catalogue is. */
export type Words = Readonly<Record<Language, string>>;
export type Values = Record<string, string | number>;
export type { Key };

type Catalogue<K extends string> = Readonly<Record<K, string>>;
export type Loaders<K extends string> = Record<Language, () => Promise<{ texts: Catalogue<K> }>>;

export function fill(text: string, values?: Values): string {
  return values
    ? text.replace(/\{(\w+)\}/g, (all, name: string) => (name in values ? String(values[name]) : all))
    : text;
}

let wanted: Language = 'en';
let shown = $state<Language>('en');
const used = new Set<{ load(): Promise<void> }>();

export class Texts<K extends string> {
  private readonly loaded: Partial<Record<Language, Catalogue<K>>> = {};

  constructor(private readonly loaders: Loaders<K>) {}

  /** Before the first t(): loads the language that is wanted, also when that changes meanwhile. */
  async load(): Promise<void> {
    used.add(this);
    for (let now = wanted; ; now = wanted) {
      this.loaded[now] ??= (await this.loaders[now]()).texts;
      if (now === wanted) return;
    }
  }

  readonly t = (key: K, values?: Values): string => {
    const texts = this.loaded[shown] ?? this.loaded.en ?? this.loaded.zh;
    return texts ? fill(texts[key], values) : key;
  };
}

const shared = new Texts<Key>({ en: () => import('./en'), zh: () => import('./zh') });
used.add(shared);
export const t = shared.t;

export const language = (): Language => shown;
/** The language as dates want it: with the viewer's own region, where the browser says one. */
export const locale = (): string =>
  (navigator.languages ?? []).find((tag) => tag.toLowerCase().split('-')[0] === language()) ?? language();
export const say = (words: Words): string => words[shown];

/** Shows the page in this language, when all texts in use are here. */
export async function useLanguage(next: Language): Promise<void> {
  wanted = next;
  await Promise.all([...used].map((texts) => texts.load()));
  if (wanted === next) shown = next;
}

export function languageOf(chosen: string, preferred: readonly string[]): Language {
  const found = [chosen, ...preferred]
    .map((tag) => tag.toLowerCase().split('-')[0])
    .find((base): base is Language => (LANGUAGES as readonly string[]).includes(base));
  return found ?? 'en';
}
