// Where sections and cards are, in pixels, so that only those in sight need to exist. Pure arithmetic.

export interface Section {
  key: string;
  title: string;
  cards: readonly string[]; // by key
  open: boolean;
  total: number; // cards, also those on other pages
  page: number; // from 1
  pages: number;
}
export interface PlacedCard {
  card: string;
  left: number;
  top: number; // within its section
  width: number;
  height: number;
  rowEnd: number; // bottom of its row, within its section
}
export interface PlacedSection {
  section: Section;
  left: number;
  top: number;
  width: number;
  height: number;
  cards: PlacedCard[];
}

export const GAP = 12;
export const HEADER = 34;
const LEAST_WIDTH = 320;

/** How high a card is, in a row with others and over the whole width. */
export type HeightOf = (card: string, isWide: boolean) => number;

/** How many columns a card takes; at most as many as there are. */
export type SpanOf = (card: string) => number;

/** As many as are wanted, if they fit; 0: as many as fit with `least` pixels each. */
export function perRow(width: number, wanted: number, least = LEAST_WIDTH): number {
  if (wanted > 0) return Math.max(1, Math.min(wanted, Math.floor((width + GAP) / (160 + GAP)) || 1));
  return Math.max(1, Math.floor((width + GAP) / (least + GAP)));
}

function placeCards(
  keys: readonly string[],
  width: number,
  columns: number,
  wide: ReadonlySet<string>,
  heightOf: HeightOf,
  spanOf: SpanOf,
): { cards: PlacedCard[]; bottom: number } {
  const cards: PlacedCard[] = [];
  const one = (width - GAP * (columns - 1)) / columns;
  let top = HEADER;
  let row: PlacedCard[] = [];
  let taken = 0; // columns of the row
  const endRow = () => {
    taken = 0;
    if (row.length === 0) return;
    const end = Math.max(...row.map((card) => card.top + card.height));
    for (const card of row) card.rowEnd = end;
    top = end + GAP;
    row = [];
  };
  for (const key of keys) {
    const isWide = wide.has(key);
    const span = isWide ? columns : Math.min(columns, spanOf(key));
    if (taken + span > columns) endRow();
    const height = heightOf(key, isWide);
    const card = {
      card: key,
      left: taken * (one + GAP),
      top,
      width: span * (one + GAP) - GAP,
      height,
      rowEnd: 0,
    };
    cards.push(card);
    row.push(card);
    taken += span;
  }
  endRow();
  return { cards, bottom: top };
}

export function layOut(
  sections: Section[],
  width: number,
  columns: number,
  wide: ReadonlySet<string>,
  heightOf: HeightOf,
  spanOf: SpanOf = () => 1,
): { placed: PlacedSection[]; height: number } {
  let top = 0;
  const placed: PlacedSection[] = [];
  const usual = (width - GAP * (columns - 1)) / columns;
  // sections that fit beside each other are one row: those that are shut, and those whose cards fill less than one
  let row: Section[] = [];
  let taken = 0;
  const columnsOf = (cards: readonly string[]) => cards.reduce((sum, card) => sum + Math.min(columns, spanOf(card)), 0);
  const sizeOf = (section: Section) => (section.open ? columnsOf(section.cards) : 1);
  const isSmall = (section: Section) =>
    !section.open ||
    (section.cards.length < columns &&
      columnsOf(section.cards) < columns &&
      !section.cards.some((card) => wide.has(card)));
  const endRow = () => {
    if (row.length === 0) return;
    const n = row[0].open ? taken : columns; // cards fill the row, heads alone need not
    const one = (width - GAP * (n - 1)) / n;
    const isWide = one > 2 * usual;
    let left = 0;
    let bottom = 0;
    for (const section of row) {
      const size = sizeOf(section);
      const own = size * one + (size - 1) * GAP;
      const height = (card: string) => heightOf(card, isWide);
      const { cards, bottom: end } = section.open
        ? placeCards(section.cards, own, size, wide, height, spanOf)
        : { cards: [], bottom: HEADER };
      placed.push({ section, left, top, width: own, height: end, cards });
      left += own + GAP;
      bottom = Math.max(bottom, end);
    }
    top += bottom;
    row = [];
    taken = 0;
  };
  for (const section of sections) {
    const size = sizeOf(section);
    if (row.length && (!isSmall(section) || row[0].open !== section.open || taken + size > columns)) endRow();
    if (isSmall(section)) {
      row.push(section);
      taken += size;
      continue;
    }
    const { cards, bottom } = placeCards(section.cards, width, columns, wide, heightOf, spanOf);
    placed.push({ section, left: 0, top, width, height: bottom, cards });
    top += bottom;
  }
  endRow();
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
