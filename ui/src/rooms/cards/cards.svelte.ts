// The cards of a dashboard: which cards there are, in which sections and on which pages, and which one has the focus. A
// dashboard says which plugins it shows and makes cards of their tags; this class applies the tag filter, the shown runs,
// the pins and the pages.
import { cardOf, groupOf, hub, naturalCompare, runs, t, type Tag } from '../../public';
import { cardView } from '../card/card.svelte';
import { tagFilter } from '../tags/filter.svelte';
import { gridSettings, type GridView } from './grid.svelte';
import type { Section } from './layout';

export const PINNED = '*';
export const MATCHING = '?';

export interface CardSource {
  plugins: readonly string[];
  /** The keys of all cards (base/address/card.ts) for these tags, in order. */
  cardsOf(tags: readonly Tag[]): string[];
}

/**
 * Identifies one copy of a card on the page: a card can be there twice, pinned and in its section. It is "SECTION\nCARD".
 * The name of a section may contain line breaks, which are replaced by spaces.
 */
export const placeId = (section: string, card: string): string => `${section.replaceAll('\n', ' ')}\n${card}`;
export const isPinnedPlace = (place: string): boolean => place.startsWith(`${PINNED}\n`);
export const cardAt = (id: string): string => id.slice(id.indexOf('\n') + 1);

export class Cards {
  /** the place of the card that has the keyboard focus or the pointer */
  focused = $state('');
  /** the card that the grid has to scroll to; the grid then clears it */
  revealed = $state('');

  constructor(
    readonly grid: GridView,
    private readonly source: CardSource,
  ) {}

  tags = $derived.by((): Tag[] => {
    const tags = hub.tags.filter((tag) => this.source.plugins.includes(tag.plugin));
    return tags.sort((a, b) => naturalCompare(a.tag, b.tag));
  });
  /** By plugin, then by name: a text of both for each of 10 000 tags takes longer than to list them. */
  private readonly known = $derived.by(() => {
    const known = new Map(this.source.plugins.map((plugin) => [plugin, new Map<string, Tag>()]));
    for (const tag of this.tags) known.get(tag.plugin)?.set(tag.tag, tag);
    return known;
  });
  private readonly runNames = $derived(new Set(hub.runs.map((run) => run.name)));

  /** The tags that match the filter. */
  matching = $derived(tagFilter.isOn ? this.tags.filter((tag) => tagFilter.passes(tag.tag)) : this.tags);

  tagsOf(card: string): Tag[] {
    const { plugin, tags } = cardOf(card);
    const known = this.known.get(plugin);
    return tags.flatMap((name) => known?.get(name) ?? []);
  }
  exists(card: string): boolean {
    if (card === '') return false;
    const { tags, run } = cardOf(card);
    return this.tagsOf(card).length === tags.length && (run === undefined || this.runNames.has(run));
  }

  private readonly all = $derived.by(() => this.source.cardsOf(this.tags));

  /** The cards that belong to a shown run; all cards, if the viewer wants those without a shown run too. */
  private visible(cards: readonly string[]): readonly string[] {
    if (this.grid.emptyCards || runs.shown.length === 0 || runs.shown.length === hub.runs.length) return cards;
    const names = new Set(runs.shown.map((run) => run.name));
    const ids = new Set(runs.shown.map((run) => run.id));
    return cards.filter((card) => {
      const { run } = cardOf(card);
      if (run !== undefined) return names.has(run);
      return this.tagsOf(card).some(({ runs: has }) => has === 'all' || has.some((id) => ids.has(id)));
    });
  }

  /**
   * One section. If sections have pages, it has the cards of its current page only; the section of pinned cards has no
   * pages.
   */
  private section(key: string, title: string, cards: readonly string[], open: boolean): Section {
    const size = key === PINNED ? 0 : gridSettings.pageSize;
    if (size <= 0 || cards.length <= size) return { key, title, cards, open, total: cards.length, page: 1, pages: 1 };
    const pages = Math.ceil(cards.length / size);
    const page = Math.min(pages, this.grid.pages.get(key) ?? 1);
    return { key, title, cards: cards.slice((page - 1) * size, page * size), open, total: cards.length, page, pages };
  }

  /** The pinned cards of this dashboard. */
  pins = $derived(cardView.pins.filter((card) => this.exists(card)));

  sections = $derived.by((): Section[] => {
    if (tagFilter.isOn) {
      const cards = this.visible(this.all.filter((card) => cardOf(card).tags.some((tag) => tagFilter.passes(tag))));
      return cards.length ? [this.section(MATCHING, t('cards.matching'), cards, true)] : [];
    }
    const groups = new Map<string, string[]>();
    for (const card of this.visible(this.all)) {
      const key = groupOf(cardOf(card).tags[0]);
      const list = groups.get(key);
      if (list) list.push(card);
      else groups.set(key, [card]);
    }
    const isOpen = (key: string) => !this.grid.closed.has(key);
    const sections: Section[] = [];
    if (this.pins.length) sections.push(this.section(PINNED, t('cards.pinned'), this.pins, isOpen(PINNED)));
    const others = groups.get('');
    if (others && groups.delete('')) groups.set('', others); // tags without a group come last
    for (const [key, cards] of groups)
      sections.push(this.section(`/${key}`, key || t('cards.ungrouped'), cards, isOpen(`/${key}`)));
    return sections;
  });

  /** The places of all cards in order, for the keys J and K. */
  private readonly order = $derived(
    this.sections.flatMap((s) => (s.open ? s.cards.map((card) => placeId(s.key, card)) : [])),
  );

  private pointerAt = '';
  /**
   * Gives a card the focus if the pointer was moved to it, but not if scrolling brought the card under a pointer that
   * rests.
   */
  pointerOn(place: string, { screenX, screenY }: PointerEvent): void {
    const at = `${screenX},${screenY}`;
    if (at !== this.pointerAt) this.focused = place;
    this.pointerAt = at;
  }

  focusBy(by: number): string {
    const at = this.order.indexOf(this.focused);
    const next = this.order[Math.min(this.order.length - 1, Math.max(0, at < 0 ? 0 : at + by))] ?? '';
    this.focused = next;
    return next;
  }
  get focusedCard(): string {
    return cardAt(this.focused);
  }
}
