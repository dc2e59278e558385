// Where sections and cards are, in pixels, so that only those in sight need to exist. Pure arithmetic.

export interface Section {
  key: string;
  title: string;
  tags: string[];
  open: boolean;
  total: number; // cards, also those on other pages
  page: number; // from 1
  pages: number;
}
export interface PlacedCard {
  tag: string;
  left: number;
  top: number; // within its section
  width: number;
  height: number;
  rowEnd: number; // bottom of its row, within its section
}
export interface PlacedSection {
  section: Section;
  top: number;
  height: number;
  cards: PlacedCard[];
}

export const GAP = 12;
export const HEADER = 34;
export const CARD = 252;
export const WIDE_CARD = 340;
export const TABLE_ROW = 24;
const TABLE_EDGE = 16; // the bar that resizes it
const TABLE_MOST = 14; // rows of a table that shows all it can
const SCROLLBAR = 12;
const LEAST_WIDTH = 320;

/** Room for a table that has been given `height`, or, tall, for its head and all of its rows as far as they go. */
export function tableRoom(height: number, isTall: boolean, rows: number): number {
  return TABLE_EDGE + (isTall ? Math.max(height, (1 + Math.min(rows, TABLE_MOST)) * TABLE_ROW + SCROLLBAR) : height);
}

export function perRow(width: number, wanted: number): number {
  if (wanted > 0) return Math.max(1, Math.min(wanted, Math.floor((width + GAP) / (160 + GAP)) || 1));
  return Math.max(1, Math.floor((width + GAP) / (LEAST_WIDTH + GAP)));
}

/** How much a card has below its chart, for a table. */
export type Below = (tag: string) => number;
const NOTHING: Below = () => 0;

function placeCards(
  tags: string[],
  width: number,
  columns: number,
  wide: ReadonlySet<string>,
  below: Below,
): { cards: PlacedCard[]; bottom: number } {
  const cards: PlacedCard[] = [];
  const one = (width - GAP * (columns - 1)) / columns;
  let top = HEADER;
  let row: PlacedCard[] = [];
  const endRow = () => {
    if (row.length === 0) return;
    const end = Math.max(...row.map((card) => card.top + card.height));
    for (const card of row) card.rowEnd = end;
    top = end + GAP;
    row = [];
  };
  for (const tag of tags) {
    const isWide = wide.has(tag);
    if (isWide || row.length === columns) endRow();
    const height = (isWide ? WIDE_CARD : CARD) + below(tag);
    const card = {
      tag,
      left: isWide ? 0 : row.length * (one + GAP),
      top,
      width: isWide ? width : one,
      height,
      rowEnd: 0,
    };
    cards.push(card);
    row.push(card);
    if (isWide) endRow();
  }
  endRow();
  return { cards, bottom: top };
}

export function layOut(
  sections: Section[],
  width: number,
  columns: number,
  wide: ReadonlySet<string>,
  below = NOTHING,
): { placed: PlacedSection[]; height: number } {
  let top = 0;
  const placed: PlacedSection[] = [];
  for (const section of sections) {
    const { cards, bottom } = section.open
      ? placeCards(section.tags, width, columns, wide, below)
      : { cards: [], bottom: HEADER };
    placed.push({ section, top, height: bottom, cards });
    top += bottom;
  }
  return { placed, height: top + GAP };
}

/** What touches the window from `from` to `to`. Rows are in order, so the first is found by halving. */
export function inSight(placed: PlacedSection[], from: number, to: number): PlacedSection[] {
  const seen: PlacedSection[] = [];
  for (const p of placed) {
    if (p.top + p.height < from || p.top > to) continue;
    let low = 0;
    let high = p.cards.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (p.top + p.cards[middle].rowEnd < from) low = middle + 1;
      else high = middle;
    }
    let end = low;
    while (end < p.cards.length && p.top + p.cards[end].top <= to) end++;
    seen.push({ ...p, cards: p.cards.slice(low, end) });
  }
  return seen;
}
