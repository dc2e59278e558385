// Numbers of a column with their decimal points below each other, whatever digits each of them has: at the right of a number stands
// the room that its missing decimals would take, as spaces of a digit's width. For right-aligned text in tabular figures.

import { count } from './format';

const DIGIT = '\u2007'; // a space as wide as a digit
const POINT = '\u2008'; // as wide as a point

/** How many characters stand behind the place of the decimal point; -1: it is no number in digits, such as NaN or 1e−7. */
function decimalsOf(text: string): number {
  const found = /^[−+↑↓ ]*[\d\u2009]+(?:\.(\d+))?$/.exec(text);
  return found ? (found[1]?.length ?? 0) : -1;
}

/** The most decimals that any of these has. */
export function mostDecimals(texts: Iterable<string>): number {
  let most = 0;
  for (const text of texts) most = Math.max(most, decimalsOf(text));
  return most;
}

/** The text with room for as many decimals. */
export function padded(text: string, most: number): string {
  const own = decimalsOf(text);
  if (own < 0 || own >= most) return text;
  return text + (own === 0 ? POINT : '') + DIGIT.repeat(most - own);
}

/** All of a column. */
export function aligned(texts: readonly string[]): string[] {
  const most = mostDecimals(texts);
  return texts.map((text) => padded(text, most));
}

const LONGEST = 11; // characters of a column: beyond that points would be below each other at the cost of the numbers

export interface Room {
  decimals: number; // 0: the column is not aligned
  length: number; // characters of the widest number, then
}

/** The room that the numbers of a column take, without writing all of them: of those with decimals the smallest has the most. */
export function roomFor(values: Iterable<unknown>, show: (v: number) => string): Room {
  let smallest = Infinity;
  let greatest = 0;
  for (const v of values) {
    if (typeof v !== 'number' || !Number.isFinite(v)) continue;
    const size = Math.abs(v);
    if (size < smallest && !Number.isInteger(v) && decimalsOf(show(v)) > 0) smallest = size;
    if (size > greatest && size < 1e6) greatest = size;
  }
  const decimals = smallest < Infinity ? decimalsOf(show(smallest)) : 0;
  const length = decimals + 1 + count(Math.floor(greatest)).length;
  return decimals > 0 && length <= LONGEST ? { decimals, length } : { decimals: 0, length: 0 };
}
