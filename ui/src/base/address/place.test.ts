import { describe, expect, it } from 'vitest';
import { asRange, asSingle, clipPlace, LAST, makePlace, readPlaces, WHOLE, writePlaces, type Place } from './place';

describe('a selection', () => {
  it('comes back from the address', () => {
    const places = new Map<string, Place | null>([
      ['', { from: 1000, to: null }],
      ['val/loss', { from: -5, to: 2.5 }],
      ['a|b,c', LAST],
      ['whole', WHOLE],
      ['to', { from: -Infinity, to: 7 }],
      ['from', { from: 7, to: Infinity }],
      ['gone', null],
    ]);
    expect([...readPlaces(writePlaces(places))]).toEqual([...places]);
  });
  it('takes nonsense as nothing', () => {
    expect(readPlaces(['', 'abc|t', '5~1|t', '1~2~3|t', 'NaN|t', '-Infinity|t', 'Infinity~3|t', '7']).size).toBe(0);
  });
  it('has its ends in order, and stays a range when they meet', () => {
    expect(makePlace(5, 1)).toEqual({ from: 1, to: 5 });
    expect(makePlace(5, 5)).toEqual({ from: 5, to: 5 });
    expect(makePlace(5, null)).toEqual({ from: 5, to: null });
  });
  it('becomes a range and one place again', () => {
    expect([asRange({ from: 3, to: null }), asRange(LAST)]).toEqual([{ from: 3, to: Infinity }, WHOLE]);
    expect([asSingle({ from: 3, to: 9 }), asSingle(WHOLE), asSingle({ from: -Infinity, to: 9 })]).toEqual([
      { from: 3, to: null },
      LAST,
      { from: 9, to: null },
    ]);
  });
  it('is clipped to the data', () => {
    expect(clipPlace(WHOLE, [10, 20])).toEqual({ from: 10, to: 20 });
    expect(clipPlace({ from: 25, to: null }, [10, 20])).toEqual({ from: 20, to: null });
  });
});
