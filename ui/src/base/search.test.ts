import { describe, expect, it } from 'vitest';
import { partitionPoint } from './search';

describe('partitionPoint', () => {
  it('finds the same index as a look at every element, in every part of every array', () => {
    for (let n = 0; n < 9; n++)
      for (let edge = 0; edge <= n; edge++)
        for (let from = 0; from <= n; from++)
          for (let to = from; to <= n; to++) {
            const expected = Math.min(to, Math.max(from, edge));
            expect(partitionPoint(from, to, (i) => i < edge)).toBe(expected);
          }
  });
  it('looks at no index outside of its part', () => {
    const seen: number[] = [];
    partitionPoint(3, 6, (i) => seen.push(i) > 0);
    expect(Math.min(...seen)).toBeGreaterThanOrEqual(3);
    expect(Math.max(...seen)).toBeLessThan(6);
  });
});
