import { describe, expect, it } from 'vitest';
import { evenTicks, makeAxis, projectionOf, ticksOf, toPixel, toValue, type AxisWhat, type ScaleKind } from './scale';
import { timeTicks } from './time';

const texts = (from: number, to: number, n = 4, what: AxisWhat = 'number', kind: ScaleKind = 'linear') =>
  ticksOf(makeAxis(projectionOf(kind, [from, to]), [from, to], 0, 300), n, what).map((tick) => tick.text);

describe('even ticks', () => {
  it('are round, inside, and about as many as asked for', () => {
    expect(evenTicks([0, 1], 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(evenTicks([-3, 7], 4)).toEqual([-2, 0, 2, 4, 6]);
    expect(evenTicks([0.1, 0.3], 2)).toEqual([0.1, 0.2, 0.3]);
    for (let k = 0; k < 300; k++) {
      const from = Math.sin(k) * 10 ** ((k % 31) - 15);
      const to = from + Math.abs(Math.cos(k)) * 10 ** ((k % 29) - 14);
      const ticks = evenTicks([from, to], 5);
      expect(ticks.length).toBeLessThan(11);
      const near = (to - from) * 1e-5 + Math.abs(from) * 4 * Number.EPSILON;
      expect(ticks.every((v) => v >= from - near && v <= to + near)).toBe(true);
    }
  });
  it('of nothing are none', () => {
    expect(evenTicks([2, 2], 4)).toEqual([2]);
    expect(evenTicks([NaN, 1], 4)).toEqual([]);
    expect(evenTicks([-Infinity, 1], 4)).toEqual([]);
    expect(evenTicks([1e300, 1e300 * (1 + 2e-16)], 4)).toEqual([]);
    expect(texts(1e18, 1e18 + 512, 4, 'relative').length).toBeLessThan(9);
    expect(texts(1e20, 1.0000000000000002e20, 4, 'relative')).toEqual([]);
  });
});

describe('a domain that is wider than the greatest number', () => {
  const axis = makeAxis(projectionOf('linear', null), [-1.7e308, 1.7e308], 0, 300);
  it('has a place for every value, and ticks', () => {
    expect([-1.7e308, 0, 1.7e308].map((v) => Math.round(toPixel(axis, v)))).toEqual([0, 150, 300]);
    expect(toValue(axis, 150)).toBeCloseTo(0);
    expect(texts(-1.7e308, 1.7e308)).toEqual(['−1e308', '0', '1e308']);
  });
});

describe('texts of ticks', () => {
  it('of one step alone are its number', () => {
    expect(texts(0.5, 1.5, 4, 'whole')).toEqual(['1']);
    expect(texts(83999.5, 84000.5, 4, 'whole')).toEqual(['84\u2009000']);
  });
  it('tell neighbours apart', () => {
    expect(texts(1 - 1e-6, 1 + 1e-6)).toEqual(['0.9999990', '0.9999995', '1.0000000', '1.0000005', '1.0000010']);
    expect(texts(1.2e-5, 1.2002e-5, 2)).toEqual(['1.2e−5', '1.2001e−5', '1.2002e−5']);
    for (const kind of ['linear', 'log', 'symlog'] as const)
      for (const what of ['number', 'whole', 'percent', 'relative'] as const)
        for (const [from, to] of [
          [1 - 1e-6, 1 + 1e-6],
          [0.001, 0.001 + 1e-9],
          [1000, 1000.0001],
          [123456, 123456.5],
          [1e6, 1e6 + 3],
          [1e12, 1e12 + 100],
          [1e15, 1.00001e15],
          [0.5, 0.50001],
        ]) {
          const all = texts(from, to, 4, what, kind);
          expect(new Set(all).size, `${kind} ${what} ${from} ${to}: ${all.join(' ')}`).toBe(all.length);
        }
  });
});

describe('ticks of wall time', () => {
  const at = (...parts: [number, number, number?, number?, number?, number?]) =>
    new Date(...(parts as [number, number])).getTime() / 1000;
  const words = (from: number, to: number, language = 'en-GB', n = 4) =>
    timeTicks([from, to], n, language).map((tick) => tick.text);
  it('speak the language', () => {
    const from = at(2026, 10, 14);
    const to = at(2026, 10, 18);
    expect(words(from, to)).toEqual(['14 Nov', '15 Nov', '16 Nov', '17 Nov', '18 Nov']);
    expect(words(from, to, 'zh-CN')).toEqual(['11月14日', '11月15日', '11月16日', '11月17日', '11月18日']);
  });
  it('say the date where a day begins, and the time of day between', () =>
    expect(words(at(2026, 10, 14, 18), at(2026, 10, 15, 12))).toEqual(['18:00', '15 Nov', '06:00', '12:00']));
  it('say the year where one begins, and months between', () =>
    expect(words(at(2025, 9, 1), at(2026, 3, 1), 'en-GB', 7)).toEqual([
      'Oct',
      'Nov',
      'Dec',
      '2026',
      'Feb',
      'Mar',
      'Apr',
    ]));
  it('go down to milliseconds and up to centuries', () => {
    expect(words(at(2026, 0, 5, 12), at(2026, 0, 5, 12) + 0.02)).toHaveLength(5);
    expect(words(at(1000, 0, 1), at(3000, 0, 1)).length).toBeLessThan(6);
    expect(timeTicks([5, 5], 4, 'en')).toEqual([]);
    expect(timeTicks([NaN, 5], 4, 'en')).toEqual([]);
    expect(timeTicks([0, 1e15], 4, 'en')).toEqual([]);
  });
});
