import { describe, expect, it, vi } from 'vitest';
import type { MediaList } from '../../data/types';

vi.mock('../../public', async () => ({
  ...(await import('../../data/layouts')),
  ...(await import('../../base/search')),
}));
const { chooseSteps, Shelf, stepsOf } = await import('./shelf');

function pictures(steps: number[], from = 0): MediaList {
  const u32 = (f: (i: number) => number) => Uint32Array.from(steps, (_, i) => f(i));
  return {
    run: 3,
    flags: 0,
    epoch: 1,
    n: from + steps.length,
    points: steps.length,
    samples: 2,
    step: Float64Array.from(steps),
    wall: Float64Array.from(steps, (s) => 1000 + s),
    offset: Float64Array.from(steps, (_, i) => 24 + from + i),
    crc: u32((i) => 7 + from + i),
    count: u32((i) => 1 + (i % 2)),
    width: u32(() => 8),
    height: u32(() => 6),
    rate: new Uint32Array(0),
    frames: new Uint32Array(0),
    bytes: u32(() => 99),
    type: Uint8Array.from(steps, () => 1),
  };
}

describe('a shelf of pictures', () => {
  it('has them by step, of several at one step the first', () => {
    const shelf = new Shelf('t', pictures([5, 1, 5, 3]));
    expect([0, 1, 2].map((i) => shelf.stepAt(i))).toEqual([1, 3, 5]);
    expect(shelf.total).toBe(3);
    expect(shelf.spot(2, 0)).toMatchObject({ step: 5, at: '24-7', type: 'image/png', width: 8, height: 6, run: 3 });
    expect(shelf.spot(2, 1)).toBe(null); // that step has one sample
    expect(shelf.spot(0, 1)).toMatchObject({ step: 1, sample: 1 });
    expect(shelf.spot(3, 0)).toBe(null);
  });
  it('finds the nearest step, of two equally near ones the later', () => {
    const shelf = new Shelf('t', pictures([0, 10, 20]));
    expect([-5, 0, 4, 5, 6, 19, 100].map((s) => shelf.near(s))).toEqual([0, 0, 0, 1, 1, 2, 2]);
    expect(shelf.near(null)).toBe(2);
    expect(new Shelf('t', pictures([])).near(3)).toBe(-1);
  });
  it('grows by what comes after it', () => {
    const shelf = new Shelf('t', pictures([1, 2])).with(pictures([3, 0], 2));
    expect([0, 1, 2, 3].map((i) => shelf.stepAt(i))).toEqual([0, 1, 2, 3]);
    expect(shelf.spot(3, 0)).toMatchObject({ at: '26-9' });
    expect(shelf.raw.n).toBe(4);
  });
  it('keeps the steps that have a sample, the first one too', () => {
    const all = pictures([1, 2, 3]);
    expect(new Shelf('t', { ...all, count: Uint32Array.of(1, 0, 2) }).having(0).total).toBe(2);
    expect(new Shelf('t', { ...all, count: Uint32Array.of(0, 0, 0) }).having(0).total).toBe(0);
    expect(new Shelf('t', all).having(1).stepAt(0)).toBe(2);
  });
  it('says the steps of several, each once', () => {
    expect(stepsOf([new Shelf('a', pictures([1, 5])), new Shelf('b', pictures([5, 2]))])).toEqual([1, 2, 5]);
  });
});

describe('columns of a grid', () => {
  const all = Array.from({ length: 1001 }, (_, i) => i * 10);
  it('are all steps where they fit', () => expect(chooseSteps([1, 2, 3], 5, 'log', null)).toEqual([1, 2, 3]));
  it('have the first, the last and the master', () => {
    for (const how of ['log', 'even'] as const) {
      const chosen = chooseSteps(all, 6, how, 4321);
      expect(chosen).toHaveLength(6);
      expect(chosen[0]).toBe(0);
      expect(chosen[5]).toBe(10000);
      expect(chosen).toContain(4320);
      expect([...chosen].sort((a, b) => a - b)).toEqual(chosen);
    }
  });
  it('are dense at the beginning by the logarithm, and not evenly', () => {
    expect(chooseSteps(all, 6, 'log', null)[2]).toBeLessThan(400);
    expect(chooseSteps(all, 6, 'even', null)[2]).toBeGreaterThan(3000);
  });
  it('is the newest where there is room for one', () => expect(chooseSteps(all, 1, 'log', null)).toEqual([10000]));
});
