import { describe, expect, it } from 'vitest';
import type { Line } from './lines';
import { nearest } from './near';
import { makeAxis, projectionOf } from './scale';

const axis = () => makeAxis(projectionOf('linear', null), [0, 400], 0, 400);
const line = (x: number[], y: number[]): Line => ({
  key: 'r',
  name: 'r',
  colour: '#000',
  x: Float64Array.from(x),
  y: Float64Array.from(y),
  raw: null,
  step: null,
  wall: null,
  firstWall: 0,
  live: false,
  free: true,
});
const axes = () => ({ ax: axis(), left: axis(), right: axis() });

describe('what is near the pointer where x goes anywhere', () => {
  it('is near in both directions, whatever the order of points', () => {
    const found = nearest([line([10, 300, 12], [10, 10, 200]), line([200], [200])], { px: 11, py: 190 }, axes());
    expect(found.map(({ line, index }) => [line, index])).toEqual([
      [0, 2],
      [1, 0],
    ]);
  });
  it('is no value that is not a number', () => {
    expect(nearest([line([10, 50], [NaN, 50])], { px: 10, py: 10 }, axes())[0].index).toBe(1);
  });
  it('is the same by the grid of many points, as far as that reaches', () => {
    let seed = 7;
    const next = () => (seed = (seed * 16807) % 2147483647) / 5368709;
    const lines = Array.from({ length: 5 }, () =>
      line(Array.from({ length: 400 }, next), Array.from({ length: 400 }, next)),
    );
    const same = axes();
    for (let i = 0; i < 40; i++) {
      const pointer = { px: next(), py: next() };
      const all = nearest(lines, pointer, same).filter(({ distance }) => distance < 48);
      const some = nearest(lines, pointer, same, 0).filter(({ distance }) => distance < 48);
      expect(some).toEqual(all);
      expect(all.length).toBeGreaterThan(0);
    }
  });
});
