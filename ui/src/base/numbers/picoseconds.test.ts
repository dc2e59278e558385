import { describe, expect, it } from 'vitest';
import { inColumn, inUnit, onAxis, ticks, time } from './picoseconds';

describe('times of a profile', () => {
  it('have the largest unit of which there is at least one', () => {
    expect(time(184.2e9)).toBe('184.2\u202fms');
    expect(time(999)).toBe('999\u202fps');
    expect(time(1e12)).toBe('1\u202fs');
    expect(time(-41.83e9)).toBe('−41.83\u202fms');
    expect(time(0)).toBe('0');
  });
  it('can have the unit of their column', () => {
    expect(inUnit(1.5e9, 's')).toBe('0.001500');
    expect(inUnit(1.5e9, 'µs')).toBe('1\u2009500');
  });
  it('have their points below each other in a column', () => {
    expect([9.9e9, 0.25e9, 2e9, 1234567.8e9, -41.83e9].map((ps) => inColumn(ps, 'ms'))).toEqual([
      '9.900',
      '0.250',
      '2.000',
      '1\u2009234\u2009567.800',
      '−41.830',
    ]);
    expect([0, 4e5, -4e5].map((ps) => inColumn(ps, 'ms'))).toEqual(['0\u2008\u2007\u2007\u2007', '<0.001', '>−0.001']);
  });
  it('are short on an axis', () =>
    expect([0, 5e8, 1e9, 2.5e9, 2e11].map((ps) => onAxis(ps, 'ms'))).toEqual(['0', '0.5', '1', '2.5', '200']));
});

describe('ticks of the ruler', () => {
  it('are round, and neighbours differ', () => {
    const { step, all } = ticks(2.4345e12, 2.4655e12, 8e9);
    expect(step).toBe(1e10);
    expect(all.map(({ text }) => text)).toEqual(['2.44\u202fs', '2.45\u202fs', '2.46\u202fs']);
  });
  it('reach down to single picoseconds', () => {
    const { all } = ticks(1e12, 1e12 + 5, 1);
    expect(new Set(all.map(({ text }) => text)).size).toBe(all.length);
  });
});
