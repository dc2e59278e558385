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
  top: number;
  height: number;
  cards: PlacedCard[];
}

export const GAP = 12;
export const HEADER = 34;
const LEAST_WIDTH = 320;

/** How high a card is, in a row with others and over the whole width. */
export type HeightOf = (card: string, isWide: boolean) => number;

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
  for (const key of keys) {
    const isWide = wide.has(key);
    if (isWide || row.length === columns) endRow();
    const height = heightOf(key, isWide);
    const card = {
      card: key,
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
  heightOf: HeightOf,
): { placed: PlacedSection[]; height: number } {
  let top = 0;
  const placed: PlacedSection[] = [];
  for (const section of sections) {
    const { cards, bottom } = section.open
      ? placeCards(section.cards, width, columns, wide, heightOf)
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
