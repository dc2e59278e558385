import { describe, expect, it, vi } from 'vitest';
import { UNSMOOTHED } from '../../../data/types';
import type { Run, Series } from '../../../public';
import { infoOf } from './info';

vi.mock('../../../public', async () => ({
  ...(await import('../../../data/columns')),
  direction: () => 'min',
  runs: { nameOf: (run: Run) => run.name },
}));

const known = { runs: 2, groups: 0, without: 0, unsmoothed: 0, isZoomed: false, tags: ['loss'], isCompared: false };
const loaded = (id: number, flags: number) => ({
  run: { id, name: `r${id}` } as Run,
  tag: 'loss',
  at: 0,
  data: {
    flags,
    points: 3,
    n: 30,
    inRange: 10,
    bad: 6,
    plus: 2,
    minus: 1,
    value: new Float64Array([3, 2, 1]),
  } as unknown as Series,
});

describe('the footer of a card', () => {
  it('counts points, those that are no numbers, and lines that are too long to be smoothed', () => {
    const info = infoOf([loaded(1, 0), loaded(2, UNSMOOTHED)], known);
    expect([info.points, info.total, info.bad, info.unsmoothed]).toEqual([6, 60, { nan: 6, plus: 4, minus: 2 }, 1]);
    expect(info.best).toEqual({ name: 'r1', value: 1 });
    expect(infoOf([], { ...known, unsmoothed: 4 }).unsmoothed).toBe(4); // the number comes from bands
  });

  it('tells how many runs are asked for until points are there, then whose points they are', () => {
    const waiting = infoOf([], { ...known, runs: 3 });
    expect([waiting.runs, waiting.lines]).toEqual([3, 0]);
    const some = infoOf([loaded(1, 0), loaded(2, 0)], { ...known, runs: 3 });
    expect([some.runs, some.lines]).toEqual([2, 2]);
  });
});
