// The state of the time series dashboard: its cards, each with one or several tags, and what the pointer is over.
import { cardKey, cardKinds, cardOf, hub, pairTags, pluginOf, runs, view, type CardKind, type Tag } from '../../public';
import { cardView } from '../../rooms/card/card.svelte';
import { Cards } from '../../rooms/cards/cards.svelte';
import { Hovering } from '../../rooms/lines/hover.svelte';
import { steps } from '../../rooms/steps/steps.svelte';
import { chartHeight, tableRoom } from './card/heights';
import { combinedCards } from './card/combined';
import { tsSettings } from './settings.svelte';
import { grid, ts } from './view.svelte';

export const PLUGIN = 'scalars';
const keyOf = (tags: readonly string[]): string =>
  cardKey({ plugin: PLUGIN, tags: tags.length > 1 ? [...new Set(tags)] : tags });

export class TimeSeries {
  readonly hovering = new Hovering({
    get center() {
      return ts.center;
    },
    isRevealed: (group) => ts.revealed.has(group),
    toggle: (group) => ts.toggle('revealed', group),
  });
  readonly cards = new Cards(grid, {
    plugins: [PLUGIN, ...cardKinds.plugins],
    cardsOf: (tags) => [...this.cardsOf(tags), ...this.otherCards(tags)],
  });

  /** The tags of scalars. */
  tags = $derived.by(() => this.cards.tags.filter(({ plugin }) => plugin === PLUGIN));

  /** The kinds of cards that this log has besides charts of scalars. */
  kinds = $derived(cardKinds.present);
  /**
   * The kind of a card that does not show scalars; undefined if it does, or if the code of its kind is not loaded yet.
   */
  kindOf(card: string): CardKind | undefined {
    return cardKinds.of(pluginOf(card));
  }
  isChart(card: string): boolean {
    return pluginOf(card) === PLUGIN;
  }
  /** Loads the code of the kinds that are shown. */
  followKinds(): void {
    $effect(() => {
      for (const { plugin } of this.kinds) if (ts.shows(plugin)) cardKinds.need(plugin);
      for (const card of [...cardView.pins, cardView.full]) cardKinds.need(cardOf(card).plugin);
    });
  }
  private otherCards(tags: readonly Tag[]): string[] {
    return cardKinds.plugins.flatMap((plugin) => {
      const kind = ts.shows(plugin) ? cardKinds.of(plugin) : undefined;
      return kind
        ? kind.cardsOf(
            tags.filter((tag) => tag.plugin === plugin),
            grid.emptyCards,
          )
        : [];
    });
  }

  /** Pairs of tags, such as training and validation, that can be shown in one card. */
  pairs = $derived.by(() => pairTags(this.tags.map(({ tag }) => tag)));
  /** Are there runs of validation that belong to runs of training? */
  pairedRuns = $derived(hub.runs.some((run) => runs.couldPair(run)));

  /** Makes cards of tags. Tags that are drawn in one chart are one card. */
  private cardsOf(all: readonly Tag[]): string[] {
    if (!ts.shows(PLUGIN)) return [];
    const tags = all.filter(({ plugin }) => plugin === PLUGIN);
    const chosen = ts.combined.map((card) => cardOf(card).tags);
    return combinedCards(
      tags.map(({ tag }) => tag),
      view.pair ? [...chosen, ...this.pairs] : chosen,
    ).map(keyOf);
  }

  combine(tags: readonly string[]): void {
    if (!tags.every((tag) => this.tags.some((known) => known.tag === tag))) return; // only scalars can be combined
    const all = new Set(tags);
    ts.combined = [...ts.combined.filter((card) => !cardOf(card).tags.some((tag) => all.has(tag))), keyOf(tags)];
  }
  split(card: string): void {
    const tags = new Set(cardOf(card).tags);
    ts.combined = ts.combined.filter((other) => !cardOf(other).tags.some((tag) => tags.has(tag)));
    if (this.pairs.some((pair) => pair.some((tag) => tags.has(tag)))) view.pair = false;
    cardView.unpin([card]);
    if (cardView.full === card) cardView.full = '';
  }

  heightOf(card: string, isWide: boolean): number {
    return this.usualHeight(card, isWide) + (this.isChart(card) ? this.below(card) : 0);
  }
  /** The height of a card without its table. */
  usualHeight(card: string, isWide: boolean): number {
    return (this.isChart(card) ? undefined : this.kindOf(card)?.heightOf(card, isWide)) ?? chartHeight(isWide);
  }
  /** The height of the table below a card's chart. */
  below(card: string): number {
    if (!steps.on) return 0;
    const isTall = ts.tall.has(card);
    return tableRoom(tsSettings.tableHeight, isTall, isTall ? this.linesOf(card) : 0);
  }
  private linesOf(card: string): number {
    let lines = 0;
    for (const { runs: has } of this.cards.tagsOf(card)) {
      const set = has === 'all' ? null : new Set(has);
      lines += set ? runs.shown.reduce((n, run) => n + (set.has(run.id) ? 1 : 0), 0) : runs.shown.length;
    }
    return lines;
  }
}
