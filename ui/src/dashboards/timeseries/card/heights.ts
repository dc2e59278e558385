// The heights of cards with charts, with and without a table below.

const CARD = 252;
const WIDE_CARD = 340;
export const TABLE_ROW = 24;
const TABLE_EDGE = 16; // pixels of the bar that resizes the table
const TABLE_MOST = 14; // most rows of a table that is as high as its rows need
const SCROLLBAR = 12;

const SHORT = 640; // pixels: in a window of at most this height, cards are lower, so that two rows of them still fit
const AROUND = 180; // pixels of header, toolbar, section head and gaps
const LEAST = 190;

export function chartHeight(isWide: boolean, window = globalThis.innerHeight ?? Infinity): number {
  if (window <= SHORT) return Math.max(LEAST, Math.min(CARD, Math.floor((window - AROUND) / 2)));
  return isWide ? WIDE_CARD : CARD;
}

/**
 * The height of a table with its resize bar: `height` or, if `isTall`, enough for its head and all its rows, up to a
 * maximum.
 */
export function tableRoom(height: number, isTall: boolean, rows: number): number {
  return TABLE_EDGE + (isTall ? Math.max(height, (1 + Math.min(rows, TABLE_MOST)) * TABLE_ROW + SCROLLBAR) : height);
}
