import { describe, expect, it } from 'vitest';
import { snap, spread, walk } from './fobs';
import type { Line } from './lines';

const line = (...x: number[]): Line => ({
  key: 'r',
  name: 'r',
  colour: '#000',
  x: Float64Array.from(x),
  y: Float64Array.from(x),
  raw: null,
  step: null,
  wall: null,
  firstWall: 0,
  live: false,
});

describe('a handle', () => {
  it('stands on the nearest point of any line', () => {
    expect(snap([line(0, 10, 20), line(0, 7)], 8)).toBe(7);
    expect(snap([line(0, 10, 20)], 99)).toBe(20);
    expect(snap([], 8)).toBe(8);
    expect(snap([line()], 8)).toBe(8);
  });
  it('walks from point to point of all lines, and stays at the ends', () => {
    const lines = [line(0, 10, 10, 20), line(0, 7)];
    expect(walk(lines, 0, 1)).toBe(7);
    expect(walk(lines, 7, 1)).toBe(10);
    expect(walk(lines, 10, 1)).toBe(20);
    expect(walk(lines, 20, 1)).toBe(20);
    expect(walk(lines, 20, -2)).toBe(7);
    expect(walk(lines, 0, -1)).toBe(0);
  });
});

describe('labels', () => {
  it('are around their places, inside the room', () => {
    expect(spread([50], [20], 100)).toEqual([40]);
    expect(spread([2], [20], 100)).toEqual([0]);
    expect(spread([99], [20], 100)).toEqual([80]);
  });
  it('stand side by side', () => {
    const [a, b] = spread([50, 52], [30, 30], 100);
    expect(b - a).toBeGreaterThanOrEqual(30);
    expect(spread([98, 99], [30, 30], 100)).toEqual([38, 70]);
    expect(spread([0, 1], [30, 30], 100)).toEqual([0, 32]);
  });
});
