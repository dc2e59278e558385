// The time series dashboard's state: which tags, in which sections, and what the pointer is over.
import {
  compileRegex,
  Crosshair,
  groupOf,
  hub,
  naturalCompare,
  pairTags,
  runs,
  settings,
  t,
  view,
  type Hit,
  type Line,
  type Tag,
} from '../../public';
import { cardsOf, joinTags, tagsOf } from './combined';
import { tableRoom, type Section } from '../../rooms/cards/layout';
import { selection } from '../../rooms/steps/steps.svelte';

export interface Hover {
  card: string;
  tag: string;
  found: Hit[];
  x: number;
  left: number; // in the window
  top: number;
  py: number; // the pointer's height in the plot
  digits: (line: Line) => number; // that tell its values apart
}

export class TimeSeries {
  readonly crosshair = new Crosshair();
  hover = $state.raw<Hover | null>(null);
  pinned = $state.raw<Hover | null>(null);
  focused = $state('');
  private good = /(?:)/i;

  tags = $derived.by(() => {
    const tags = hub.tags.filter((tag) => tag.plugin === 'scalars');
    return tags.sort((a, b) => naturalCompare(a.tag, b.tag));
  });
  byName = $derived(new Map<string, Tag>(this.tags.map((tag) => [tag.tag, tag])));

  filterError = $derived.by(() => {
    const regex = compileRegex(view.tagFilter);
    return regex.ok ? '' : regex.error.message;
  });
  matching = $derived.by(() => {
    const regex = compileRegex(view.tagFilter);
    if (regex.ok) this.good = regex.value;
    return view.tagFilter === '' ? this.tags : this.tags.filter((tag) => this.good.test(tag.tag));
  });

  tagsOf(card: string): string[] {
    return tagsOf(card, (name) => this.byName.has(name));
  }
  exists(card: string): boolean {
    return card !== '' && this.tagsOf(card).every((tag) => this.byName.has(tag));
  }

  /** Pairs that are there to be shown as one card. */
  pairs = $derived.by(() => pairTags(this.tags.map(({ tag }) => tag)));
  /** Are there runs of validation beside their runs of training? */
  pairedRuns = $derived(hub.runs.some((run) => runs.couldPair(run)));

  /** Tags as cards: those that are drawn together are one. */
  private cards(tags: Tag[]): string[] {
    const chosen = view.combined.map((card) => this.tagsOf(card));
    return cardsOf(
      tags.map(({ tag }) => tag),
      view.pair ? [...chosen, ...this.pairs] : chosen,
    );
  }

  combine(tags: readonly string[]): void {
    const all = new Set(tags);
    view.combined = [
      ...view.combined.filter((card) => !this.tagsOf(card).some((tag) => all.has(tag))),
      joinTags([...all]),
    ];
  }
  split(card: string): void {
    const tags = new Set(this.tagsOf(card));
    view.combined = view.combined.filter((other) => !this.tagsOf(other).some((tag) => tags.has(tag)));
    if (this.pairs.some((pair) => pair.some((tag) => tags.has(tag)))) view.pair = false;
    view.pins = view.pins.filter((pin) => pin !== card);
    if (view.full === card) view.full = '';
  }

  /** Those that a shown run has, unless all are asked for. */
  private visible(cards: string[]): string[] {
    if (view.emptyCards || runs.shown.length === 0 || runs.shown.length === hub.runs.length) return cards;
    const shown = new Set(runs.shown.map((run) => run.id));
    return cards.filter((card) =>
      this.tagsOf(card).some((name) => {
        const has = this.byName.get(name)?.runs;
        return has === 'all' || has?.some((id) => shown.has(id));
      }),
    );
  }

  /** A group, cut to its page where groups have pages; the pinned have none. */
  private section(key: string, title: string, tags: string[], open: boolean): Section {
    const size = key === '*' ? 0 : settings.pageSize;
    if (size <= 0 || tags.length <= size) return { key, title, tags, open, total: tags.length, page: 1, pages: 1 };
    const pages = Math.ceil(tags.length / size);
    const page = Math.min(pages, view.pages.get(key) ?? 1);
    return { key, title, tags: tags.slice((page - 1) * size, page * size), open, total: tags.length, page, pages };
  }

  sections = $derived.by((): Section[] => {
    if (view.tagFilter !== '') {
      const matching = new Set(this.matching.map((tag) => tag.tag));
      const tags = this.visible(
        this.cards(this.tags).filter((card) => this.tagsOf(card).some((tag) => matching.has(tag))),
      );
      return tags.length ? [this.section('?', t('ts.matching'), tags, true)] : [];
    }
    const groups = new Map<string, string[]>();
    for (const tag of this.visible(this.cards(this.tags))) {
      const key = groupOf(tag);
      const list = groups.get(key);
      if (list) list.push(tag);
      else groups.set(key, [tag]);
    }
    const sections: Section[] = [];
    const pins = view.pins.filter((card) => this.exists(card));
    if (pins.length) sections.push(this.section('*', t('ts.pinned'), pins, !view.closed.has('*')));
    for (const [key, tags] of groups)
      sections.push(this.section(`/${key}`, key || t('ts.ungrouped'), tags, !view.closed.has(`/${key}`)));
    return sections;
  });

  private releasing = false;

  /** A click on a chart keeps its tooltip; the click that closes one opens none. */
  pin(hover: Hover): void {
    if (this.releasing) return;
    this.pinned = hover;
    this.hover = null;
  }
  release(byPointer: boolean): void {
    this.pinned = null;
    if (!byPointer) return;
    this.releasing = true;
    addEventListener('pointerup', () => (this.releasing = false), { once: true });
  }

  /** Room below a card's chart, for its table. */
  below(tag: string): number {
    if (!selection.on) return 0;
    const isTall = view.tall.has(tag);
    return tableRoom(settings.tableHeight, isTall, isTall ? this.linesOf(tag) : 0);
  }
  private linesOf(card: string): number {
    let lines = 0;
    for (const tag of this.tagsOf(card)) {
      const has = this.byName.get(tag)?.runs ?? [];
      const set = has === 'all' ? null : new Set(has);
      lines += set ? runs.shown.reduce((n, run) => n + (set.has(run.id) ? 1 : 0), 0) : runs.shown.length;
    }
    return lines;
  }

  /** All cards in order, for J and K. */
  order = $derived(this.sections.flatMap((s) => (s.open ? s.tags.map((tag) => `${s.key}\n${tag}`) : [])));

  private pointerAt = '';
  /** A card has the focus when the pointer goes to it, not when the page scrolls it under a pointer that rests. */
  pointerOn(id: string, { screenX, screenY }: PointerEvent): void {
    const at = `${screenX},${screenY}`;
    if (at !== this.pointerAt) this.focused = id;
    this.pointerAt = at;
  }

  focusBy(by: number): string {
    const at = this.order.indexOf(this.focused);
    const next = this.order[Math.min(this.order.length - 1, Math.max(0, at < 0 ? 0 : at + by))] ?? '';
    this.focused = next;
    return next;
  }
  get focusedTag(): string {
    return this.focused.slice(this.focused.indexOf('\n') + 1);
  }
}
