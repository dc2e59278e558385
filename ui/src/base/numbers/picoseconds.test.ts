import { describe, expect, it } from 'vitest';
import { inUnit, ticks, time } from './picoseconds';

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
