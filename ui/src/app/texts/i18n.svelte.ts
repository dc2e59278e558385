// Texts in the viewer's language: t('key', { n: 3 }). A catalogue has one file a language, and only that of the language
// on the page is loaded. The shell and the rooms share one catalogue; each dashboard has its own. The keys
// of the English one are required in all others. Reading t() in a component follows the language by itself.
//
// A catalogue of the first page has two parts: en.ts has what the page shows at once, parts/en.ts what only parts show that
// are loaded when they are first needed. Their texts are loaded beside the first such part (withPartTexts).
import type { Key as FirstKey } from './en';
import type { PartKey } from './parts/en';

export const LANGUAGES = ['en', 'zh'] as const;
export type Language = (typeof LANGUAGES)[number];
/** A few words in every language, for what must be there before a catalogue is. */
export type Words = Readonly<Record<Language, string>>;
export type Values = Record<string, string | number>;
export type Key = FirstKey | PartKey;

/** A catalogue that is split into parts has only some of the keys in each. */
type Catalogue<K extends string> = Readonly<Partial<Record<K, string>>>;
export type Loaders<K extends string> = Record<Language, () => Promise<{ texts: Catalogue<K> }>>;

export function fill(text: string, values?: Values): string {
  return values
    ? text.replace(/\{(\w+)\}/g, (all, name: string) => (name in values ? String(values[name]) : all))
    : text;
}

let wanted: Language = 'en';
let shown = $state<Language>('en');
const used = new Set<{ load(): Promise<void> }>();
const partTexts = new Set<{ load(): Promise<void> }>();

export class Texts<K extends string> {
  readonly #loaded: Partial<Record<Language, Catalogue<K>>> = {};

  readonly #more: Texts<K> | undefined;

  /** `ofParts`: the texts of parts that are loaded when they are first needed, which the first catalogue does not have. */
  constructor(
    private readonly loaders: Loaders<K>,
    ofParts?: Loaders<K>,
  ) {
    if (!ofParts) return;
    this.#more = new Texts(ofParts);
    partTexts.add(this.#more);
  }

  /** Before the first t(): loads the language that is wanted, also when that changes meanwhile. */
  async load(): Promise<void> {
    used.add(this);
    for (let now = wanted; ; now = wanted) {
      this.#loaded[now] ??= (await this.loaders[now]()).texts;
      if (now === wanted) return;
    }
  }

  private find(key: K): string | undefined {
    return (this.#loaded[shown] ?? this.#loaded.en ?? this.#loaded.zh)?.[key];
  }

  readonly t = (key: K, values?: Values): string => fill(this.find(key) ?? this.#more?.find(key) ?? key, values);
}

const shared = new Texts<Key>(
  { en: () => import('./en'), zh: () => import('./zh') },
  { en: () => import('./parts/en'), zh: () => import('./parts/zh') },
);
used.add(shared);
export const t = shared.t;

/** A module whose own texts have to be loaded before it is shown. */
export interface WithTexts {
  texts?: { load(): Promise<void> };
}

/** Loads a module, then its own texts. */
export async function withOwnTexts<T>(load: () => Promise<T>): Promise<T> {
  const module = await load();
  await (module as WithTexts).texts?.load();
  return module;
}

/** Loads a part of the page, and beside it the texts of such parts. */
export async function withPartTexts<T>(load: () => Promise<T>): Promise<T> {
  const [part] = await Promise.all([withOwnTexts(load), ...[...partTexts].map((texts) => texts.load())]);
  return part;
}

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
