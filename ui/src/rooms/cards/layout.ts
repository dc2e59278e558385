// Computes the positions of sections and cards in pixels, so that only the visible ones need to be in the DOM. Pure
// functions.
import { partitionPoint } from '../../public';

export interface Section {
  key: string;
  title: string;
  cards: readonly string[]; // their keys
  open: boolean;
  total: number; // number of cards, including those on other pages
  page: number; // from 1
  pages: number;
}
export interface PlacedCard {
  card: string;
  left: number;
  top: number; // relative to its section
  width: number;
  height: number;
  rowEnd: number; // bottom of its row, relative to its section
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

/**
 * The height of a card in pixels. `isWide` is true if the viewer made the card as wide as the page, or if it is more than
 * twice as wide as usual.
 */
export type HeightOf = (card: string, isWide: boolean, width: number) => number;

/** The number of columns that a card takes, at most as many as there are. */
export type SpanOf = (card: string) => number;

/** The number of cards in a row: `wanted` if so many fit; for 0, as many as fit with at least `least` pixels each. */
export function perRow(width: number, wanted: number, least = LEAST_WIDTH): number {
  if (wanted > 0) return Math.max(1, Math.min(wanted, Math.floor((width + GAP) / (160 + GAP)) || 1));
  return Math.max(1, Math.floor((width + GAP) / (least + GAP)));
}

const WIDEST_CARD = 1000; // pixels
const MOST_LAID_OUT = 60; // cards: with more, the page is full anyway, and cards are not enlarged
const TALLEST = 0.62; // greatest height of an enlarged card, as a share of its width
const TALL = 420; // pixels that a narrow card may be high, whatever its width
const FLATTEST = 0.25; // least height of a card, as a share of its width

const countOf = (sections: Section[]) => sections.reduce((n, section) => n + section.cards.length, 0);
const isFew = (sections: Section[]) => countOf(sections) <= MOST_LAID_OUT;

/**
 * The number of columns if there are only a few cards. They are enlarged, so that the page is not half empty: there are
 * as few columns as possible while all cards are still visible. Two cards are one above the other, unless that makes them
 * too flat. `heightOf` must not include tables that appear below charts, so that no card moves when a table appears.
 */
export function roomyColumns(
  sections: Section[],
  width: number,
  height: number,
  most: number,
  wide: ReadonlySet<string>,
  heightOf: HeightOf,
): number {
  if (!isFew(sections)) return most;
  const isPair = countOf(sections) === 2 && width * FLATTEST <= height / 2;
  for (let columns = isPair ? 1 : Math.max(2, Math.ceil(width / WIDEST_CARD)); columns < most; columns++)
    if (layOut(sections, width, columns, wide, heightOf).height <= height) return columns;
  return most;
}

/** By how many pixels each row can be higher while all cards are still visible. */
export function spareHeight(
  sections: Section[],
  width: number,
  height: number,
  columns: number,
  wide: ReadonlySet<string>,
  heightOf: HeightOf,
): number {
  if (!isFew(sections)) return 0;
  const { placed, height: all } = layOut(sections, width, columns, wide, heightOf);
  const rows = new Set(placed.flatMap(({ top, cards }) => cards.map((card) => top + card.top))).size;
  return rows ? Math.max(0, Math.floor((height - all) / rows)) : 0;
}

/** How much of the spare height a card of this width and height uses. */
export const growth = (spare: number, width: number, height: number): number =>
  Math.max(0, Math.min(spare, Math.max(TALL, Math.floor(width * TALLEST)) - height));

interface Row {
  keys: string[];
  taken: number; // number of columns that its cards take
}

/**
 * Splits cards into rows, in order. If the last row would be short, its cards and those of the row before are shared
 * evenly.
 */
function rowsOf(
  keys: readonly string[],
  columns: number,
  wide: ReadonlySet<string>,
  spanOf: (card: string) => number,
): Row[] {
  const rows: Row[] = [];
  let row: Row = { keys: [], taken: Infinity };
  for (const key of keys) {
    const span = wide.has(key) ? columns : spanOf(key);
    if (row.taken + span > columns) rows.push((row = { keys: [], taken: 0 }));
    row.keys.push(key);
    row.taken += span;
  }
  const [before, last] = rows.slice(-2);
  const isEven = (one: Row | undefined) => one !== undefined && one.keys.length === one.taken; // each card takes one column
  if (last && last.taken < columns - 1 && isEven(before) && isEven(last)) {
    const all = [...before.keys, ...last.keys];
    const first = Math.ceil(all.length / 2);
    rows.splice(
      -2,
      2,
      { keys: all.slice(0, first), taken: first },
      { keys: all.slice(first), taken: all.length - first },
    );
  }
  return rows;
}

/** Computes the positions of the cards of a section. The cards of a row fill its width. */
function placeCards(
  keys: readonly string[],
  width: number,
  columns: number,
  wide: ReadonlySet<string>,
  heightOf: HeightOf,
  spanOf: SpanOf,
): { cards: PlacedCard[]; bottom: number } {
  const cards: PlacedCard[] = [];
  const span = (card: string) => Math.min(columns, spanOf(card));
  const usual = (width - GAP * (columns - 1)) / columns;
  let top = HEADER;
  for (const { keys: row, taken } of rowsOf(keys, columns, wide, span)) {
    const one = (width - GAP * (taken - 1)) / taken;
    let at = 0; // columns that are used in this row
    let end = top;
    for (const key of row) {
      const own = wide.has(key) ? taken : span(key);
      const cardWidth = own * (one + GAP) - GAP;
      const height = heightOf(key, wide.has(key) || one > 2 * usual, cardWidth);
      cards.push({ card: key, left: at * (one + GAP), top, width: cardWidth, height, rowEnd: 0 });
      at += own;
      end = Math.max(end, top + height);
    }
    for (let i = cards.length - row.length; i < cards.length; i++) cards[i].rowEnd = end;
    top = end + GAP;
  }
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
  // Small sections are placed beside each other in one row: those that are collapsed, and those whose cards fill less
  // than a row.
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
    const n = row[0].open ? taken : columns; // cards fill the whole row; heads of collapsed sections keep the usual width
    const one = (width - GAP * (n - 1)) / n;
    const isWide = one > 2 * usual;
    let left = 0;
    let bottom = 0;
    for (const section of row) {
      const size = sizeOf(section);
      const own = size * one + (size - 1) * GAP;
      const height: HeightOf = (card, _, cardWidth) => heightOf(card, isWide, cardWidth);
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

/**
 * The sections and cards that are visible between `from` and `to`. Rows are sorted, so the first card is found by binary
 * search.
 */
export function inSight(placed: PlacedSection[], from: number, to: number): PlacedSection[] {
  const seen: PlacedSection[] = [];
  for (const p of placed) {
    if (p.top + p.height < from || p.top > to) continue;
    const first = partitionPoint(0, p.cards.length, (i) => p.top + p.cards[i].rowEnd < from);
    let end = first;
    while (end < p.cards.length && p.top + p.cards[end].top <= to) end++;
    seen.push({ ...p, cards: p.cards.slice(first, end) });
  }
  return seen;
}
