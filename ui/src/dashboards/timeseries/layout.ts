// Where sections and cards are, in pixels, so that only those in sight need to exist. Pure arithmetic.

export interface Section {
  key: string;
  title: string;
  tags: string[];
  open: boolean;
}
export interface PlacedCard {
  tag: string;
  left: number;
  top: number; // within its section
  width: number;
  height: number;
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
const LEAST_WIDTH = 320;

export function perRow(width: number, wanted: number): number {
  if (wanted > 0) return Math.max(1, Math.min(wanted, Math.floor((width + GAP) / (160 + GAP)) || 1));
  return Math.max(1, Math.floor((width + GAP) / (LEAST_WIDTH + GAP)));
}

function placeCards(tags: string[], width: number, columns: number, wide: ReadonlySet<string>): { cards: PlacedCard[]; bottom: number } {
  const cards: PlacedCard[] = [];
  const one = (width - GAP * (columns - 1)) / columns;
  let top = HEADER;
  let column = 0;
  for (const tag of tags) {
    const isWide = wide.has(tag);
    if (column > 0 && (isWide || column === columns)) {
      top += CARD + GAP;
      column = 0;
    }
    if (isWide) {
      cards.push({ tag, left: 0, top, width, height: WIDE_CARD });
      top += WIDE_CARD + GAP;
    } else {
      cards.push({ tag, left: column * (one + GAP), top, width: one, height: CARD });
      column++;
    }
  }
  if (column > 0) top += CARD + GAP;
  return { cards, bottom: top };
}

export function layOut(sections: Section[], width: number, columns: number, wide: ReadonlySet<string>): { placed: PlacedSection[]; height: number } {
  let top = 0;
  const placed: PlacedSection[] = [];
  for (const section of sections) {
    const { cards, bottom } = section.open ? placeCards(section.tags, width, columns, wide) : { cards: [], bottom: HEADER };
    placed.push({ section, top, height: bottom, cards });
    top += bottom;
  }
  return { placed, height: top + GAP };
}

/** What touches the window from `from` to `to`. Cards are in order of top, so the first is found by halving. */
export function inSight(placed: PlacedSection[], from: number, to: number): PlacedSection[] {
  const seen: PlacedSection[] = [];
  for (const p of placed) {
    if (p.top + p.height < from || p.top > to) continue;
    let low = 0;
    let high = p.cards.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (p.top + p.cards[middle].top + p.cards[middle].height < from) low = middle + 1;
      else high = middle;
    }
    let end = low;
    while (end < p.cards.length && p.top + p.cards[end].top <= to) end++;
    seen.push({ ...p, cards: p.cards.slice(low, end) });
  }
  return seen;
}
