import { expect, it } from 'vitest';
import { aligned, padded, roomFor } from './align';
import { value } from './format';

const D = '\u2007';
const P = '\u2008';

it('puts decimal points below each other', () =>
  expect(aligned(['0.2982', '12.35', '7', '−1\u2009234.6'])).toEqual([
    '0.2982',
    `12.35${D}${D}`,
    `7${P}${D}${D}${D}${D}`,
    `−1\u2009234.6${D}${D}${D}`,
  ]));
it('leaves what is no plain number alone, and whole numbers among themselves', () => {
  expect(aligned(['NaN', '1.5e−7', '–', '0.5'])).toEqual(['NaN', '1.5e−7', '–', '0.5']);
  expect(aligned(['12', '7'])).toEqual(['12', '7']);
});
it('gives a number as much room as is asked for', () => {
  expect(padded('3', 2)).toBe(`3${P}${D}${D}`);
  expect(Number(padded('3', 2))).toBe(3);
});
it('knows the room of a column from its values', () => {
  expect(roomFor([12.35, 0.2982, 7, NaN, null, 1e-7], (v) => value(v)).decimals).toBe(4);
  expect(roomFor([12, 7], (v) => value(v)).decimals).toBe(0);
  expect(roomFor([123456.7, 0.000123456], (v) => value(v)).decimals).toBe(0);
});
