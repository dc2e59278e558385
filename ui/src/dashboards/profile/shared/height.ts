// How tall a table in a card is.

const ROW = 28;
const SCROLL_BAR = 18;
/** As tall as its rows and their head, up to `most` pixels: then the rows scroll. */
export const heightOf = (rows: number, most: number): number => Math.min(most, (rows + 1) * ROW + SCROLL_BAR);
