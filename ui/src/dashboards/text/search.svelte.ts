// The search in all texts: pages of results, the result that is open, and moving to the next or previous one.
import { cardKey, hub, LiveQuery, runs, toNumber, type Run, type TextFound } from '../../public';
import type { Cards } from '../../rooms/cards/cards.svelte';
import { steps } from '../../rooms/steps/steps.svelte';
import { tagFilter } from '../../rooms/tags/filter.svelte';
import { searchQuestion, type SearchAnswer } from './question';
import { textView } from './view.svelte';

const MOST_PAGES = 20;

class Page {
  readonly query = new LiveQuery<SearchAnswer>();
  constructor(readonly skip: number) {}
}

export interface Found extends TextFound {
  key: string;
  card: string;
}

export class TextSearches {
  private pages = $state.raw<readonly Page[]>([new Page(0)]);
  at = $state(-1);

  /** To be called in an effect: sends a new request when the search changes. */
  follow(): void {
    $effect(() => {
      void [textView.find, textView.regex, textView.matchCase];
      this.pages = [new Page(0)];
      this.at = -1;
    });
    $effect(() => {
      for (const { query, skip } of this.pages)
        query.follow(
          () => {
            const { find, regex, matchCase } = textView;
            return find === '' ? null : searchQuestion({ text: find, regex, matchCase, skip });
          },
          () => 200,
        );
    });
  }

  private readonly answers = $derived(this.pages.flatMap(({ query }) => query.answer ?? []));
  found = $derived.by((): Found[] =>
    this.answers.flatMap(({ found }) =>
      found.flatMap((one) => {
        const run = hub.runs.find(({ id }) => id === one.run);
        if (!run) return [];
        const card = cardKey({ plugin: 'text', tags: [one.tag], run: run.name });
        return [{ ...one, card, key: `${card}\n${one.step}` }];
      }),
    ),
  );
  groups = $derived.by(() => {
    const all = new Map<number, { run: Run; hits: number; found: Found[] }>();
    for (const one of this.found) {
      const run = hub.runs.find(({ id }) => id === one.run);
      if (!run) continue;
      const group = all.get(one.run) ?? { run, hits: 0, found: [] };
      group.hits += one.count;
      group.found.push(one);
      all.set(one.run, group);
    }
    return [...all.values()];
  });
  hits = $derived(this.answers.reduce((n, { hits }) => n + hits, 0));
  searched = $derived(this.answers.reduce((n, { searched }) => n + searched, 0));
  total = $derived(this.answers.at(-1)?.total ?? 0);
  isWaiting = $derived(textView.find !== '' && this.answers.length < this.pages.length && this.trouble === null);
  get trouble() {
    return this.pages.find(({ query }) => query.trouble)?.query.trouble ?? null;
  }
  tryNow(): void {
    for (const { query } of this.pages) query.tryNow();
  }
  next = $derived(this.pages.length < MOST_PAGES ? this.answers.at(-1)?.next : undefined);
  more(): void {
    if (this.next !== undefined) this.pages = [...this.pages, new Page(this.next)];
  }

  /** Shows the card of a result at its step, even if its run is hidden or the tag filter excludes its tag. */
  open(at: number, cards: Cards): void {
    const one = this.found.at(at);
    const run = hub.runs.find(({ id }) => id === one?.run);
    if (!one || !run) return;
    this.at = at;
    if (!runs.isShown(run)) runs.setShown([run], true);
    if (tagFilter.isOn && !tagFilter.passes(one.tag)) tagFilter.text = '';
    steps.setStep(one.card, toNumber(one.step));
    cards.revealed = one.card;
  }
  /** Opens the next or the previous result. */
  go(by: number, cards: Cards): void {
    const n = this.found.length;
    if (n > 0) this.open((Math.max(this.at, by > 0 ? -1 : 0) + by + n) % n, cards);
  }
}
