// What a dashboard tells the shell about itself. It is a folder under src/dashboards, named by its id, with an index.ts that
// holds this and an empty.ts that holds its empty page, and one line in src/dashboards/index.ts. Its code and its texts are
// loaded when it is opened.
import type { Component, Snippet } from 'svelte';
import type { Tag } from '../../data/types';
import type { Words, WithTexts } from '../texts/i18n.svelte';

/** Lines that log what the dashboard shows, in one framework. */
export interface Sample {
  name: string;
  code: string;
}

/** The page of a dashboard that has no data: `empty` in empty.ts of its folder. */
export interface EmptyPage {
  about: Words; // what would be there
  samples: Sample[];
  /** Stands around the page, for a dashboard that can show something that was not logged. */
  Around?: Component<{ children: Snippet }>;
}

/** Cards of a dashboard as the time series page shows them beside its own. */
export interface CardKind {
  /** Keys of all cards (base/address/card.ts), in order, of these tags; also of runs that are not shown. */
  cardsOf(tags: readonly Tag[], showAll: boolean): string[];
  Card: Component<CardProps>;
  heightOf(card: string, isWide: boolean): number;
  full(): Promise<{ default: Component<{ card: string }> }>;
  /** Rows for the form of what does not fit into the toolbar. */
  Form?: Component;
}
/** `cards`: the room of cards of the page that the card is on. */
export interface CardProps {
  card: string; // its key
  place: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a class of a room; the shell knows no rooms
  cards: any;
}
/** The kind of cards that a dashboard offers to the time series page. */
export interface OfferedCards {
  plugin: string;
  title: Words;
  load: () => Promise<WithTexts & { kind: CardKind }>;
}

export interface Dashboard {
  id: string; // as the address names it
  title: Words;
  plugins: string[]; // whose data it shows
  /** its data is in files beside the event files: the route of the server that lists the runs with such files, and what they hold */
  inFiles?: { path: string; what: Words };
  /** other names of the tab, in TensorBoard's links */
  aliases?: string[];
  /** the plugin whose tags are metrics of a run: columns of the table of runs, sums, details */
  metrics?: string;
  cards?: OfferedCards;
  /** it has a panel of its own at the left: always instead of the runs, or as the viewer chooses */
  ownPanel?: 'always' | 'choice';
  /** Its view. Without it the tab is under "More", with the reason. */
  load?: () => Promise<WithTexts & { default: Component }>;
}
