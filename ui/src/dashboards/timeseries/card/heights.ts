// How high the cards of charts are, with and without a table below.

const CARD = 252;
const WIDE_CARD = 340;
export const TABLE_ROW = 24;
const TABLE_EDGE = 16; // the bar that resizes it
const TABLE_MOST = 14; // rows of a table that shows all it can
const SCROLLBAR = 12;

const SHORT = 640; // pixels of a window: two rows of cards still fit
const AROUND = 180; // header, toolbar, the head of a group, gaps
const LEAST = 190;

export function chartHeight(isWide: boolean, window = globalThis.innerHeight ?? Infinity): number {
  if (window <= SHORT) return Math.max(LEAST, Math.min(CARD, Math.floor((window - AROUND) / 2)));
  return isWide ? WIDE_CARD : CARD;
}

/** Room for a table that has been given `height`, or, tall, for its head and all of its rows as far as they go. */
export function tableRoom(height: number, isTall: boolean, rows: number): number {
  return TABLE_EDGE + (isTall ? Math.max(height, (1 + Math.min(rows, TABLE_MOST)) * TABLE_ROW + SCROLLBAR) : height);
}
