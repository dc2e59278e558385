import { describe, expect, it } from 'vitest';
import type { Series } from '../columns';
import { bytesOf, compact } from './memory';

const POINTS = 100;
/** n series of two columns in one buffer, with shared steps, as in a reply. */
function reply(n: number): [string, Series][] {
  const body = new ArrayBuffer((n + 1) * POINTS * 8);
  const step = new Float64Array(body, 0, POINTS).map((_, i) => i);
  const shared = new Float64Array(body, 0, POINTS);
  shared.set(step);
  return Array.from({ length: n }, (_, i) => {
    const value = new Float64Array(body, (i + 1) * POINTS * 8, POINTS).fill(i);
    const one = { run: i, points: POINTS, step: shared, value, wall: null, smooth: null, flagsOf: null, x: null };
    return [String(i), one as unknown as Series];
  });
}

describe('columns that are kept', () => {
  it('stay views of the reply while most of it is in use', () => {
    const all = new Map(reply(10));
    expect(compact(all)).toBe(all);
    expect(bytesOf(all.values())).toBe(11 * POINTS * 8);
  });
  it('do not keep a whole reply alive for a part of it', () => {
    const few = new Map(reply(1000).slice(0, 2));
    expect(bytesOf(few.values())).toBe(1001 * POINTS * 8);
    const own = compact(few);
    expect(bytesOf(own.values())).toBe(3 * POINTS * 8);
    expect([...own.values()].map((s) => [s.value?.[0], s.step?.[7]])).toEqual([
      [0, 7],
      [1, 7],
    ]);
    expect(own.get('0')?.step).toBe(own.get('1')?.step); // still shared
  });
});
