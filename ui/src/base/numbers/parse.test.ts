import { describe, expect, it } from 'vitest';
import { parseDuration, parseMoment, parseNumber } from './parse';

describe('a place on an axis, as typed', () => {
  it('is a number', () => {
    expect(['1e-3', '12 000', '12\u2009000', '−5', '5k', '1.5M', '.5'].map(parseNumber)).toEqual([
      0.001, 12000, 12000, -5, 5000, 1.5e6, 0.5,
    ]);
  });
  it('is a span of time', () => {
    expect(['90', '1.5 h', '1 h 30 min', '250ms', '2d', '-5 s', '1e3'].map(parseDuration)).toEqual([
      90, 5400, 5400, 0.25, 172800, -5, 1000,
    ]);
  });
  it('is a moment, in the viewer’s zone', () => {
    expect(parseMoment('2026-11-15 14:03:22')).toBe(new Date(2026, 10, 15, 14, 3, 22).getTime() / 1000);
    expect(parseMoment('2026-11-15T14:03:22Z')).toBe(Date.UTC(2026, 10, 15, 14, 3, 22) / 1000);
    expect(parseMoment('1794740000.5')).toBe(1794740000.5);
  });
  it('is nothing else', () => {
    for (const text of ['', 'abc', '1,5', '0x10', 'Infinity', 'NaN', '1..2', '1 h x', 'k']) {
      expect(parseNumber(text)).toBeNaN();
      expect(parseDuration(text)).toBeNaN();
      expect(parseMoment(text)).toBeNaN();
    }
  });
});
