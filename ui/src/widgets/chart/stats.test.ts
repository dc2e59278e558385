import { describe, expect, it } from 'vitest';
import type { Line } from './lines';
import { drawnStats } from './stats';

const f = (...v: number[]) => Float64Array.from(v);
const line: Line = {
  key: 'r',
  name: 'r',
  colour: '#000',
  x: f(0, 10, 20, 30),
  y: f(4, 2, NaN, 3),
  raw: f(5, 1, NaN, 9),
  step: f(0, 10, 20, 30),
  wall: f(100, 110, 120, 130),
  firstWall: 100,
  live: false,
};

describe('what a line does', () => {
  it('at one place is its nearest point', () => {
    expect(drawnStats(line, 11, null)?.start).toEqual({ step: 10, wall: 110, value: 2, raw: 1 });
    expect(drawnStats(line, Infinity, null)?.start.step).toBe(30);
  });
  it('between two is start, end, extremes and mean, of the smoothed line and of the raw one', () => {
    const stats = drawnStats(line, -Infinity, Infinity);
    expect([stats?.start.step, stats?.end.step]).toEqual([0, 30]);
    expect([stats?.line.min?.value, stats?.line.max?.value, stats?.line.mean]).toEqual([2, 4, 3]);
    expect([stats?.raw.min?.raw, stats?.raw.max?.step, stats?.raw.mean]).toEqual([1, 30, 5]);
  });
  it('on a range of one point is that point', () => {
    const stats = drawnStats(line, -5, 1);
    expect([stats?.line.min?.value, stats?.line.max?.value, stats?.line.mean]).toEqual([4, 4, 4]);
  });
  it('is nothing where nothing is finite or there are no points', () => {
    expect(drawnStats(line, 20, 20)?.line).toEqual({ min: null, max: null, mean: NaN });
    expect(drawnStats({ ...line, x: f() }, 20, 20)).toBeNull();
  });
});
