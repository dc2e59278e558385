import { describe, expect, it, vi } from 'vitest';
import { GRID_AT as AT, GRID_BYTES, GRID_MAGIC } from '../../data/layouts';
import { valueRange } from './bands';
import { beyond, binAt, decodeGrids, isDrawn, nanFrom, nearestStep, troubleOf, xsOf, type Grid } from './grid';
import { extentOf, heightsOf, unitHeight } from './heights';

// the parts of the core that these files use, without the rest of the page
vi.mock('../../public', async () => ({
  ...(await import('../../data/layouts')),
  ...(await import('../../data/columns')),
  ...(await import('../../base/result')),
  ...(await import('../../base/search')),
  ...(await import('../../widgets/chart/scale')),
}));

/** A reply with one series of three steps and two bins. */
function reply(): ArrayBuffer {
  const body = new ArrayBuffer(16 + GRID_BYTES + 600);
  const view = new DataView(body);
  [...GRID_MAGIC].forEach((c, i) => view.setUint8(i, c.charCodeAt(0)));
  view.setUint32(4, 1, true);
  const at = 16;
  view.setUint32(at + AT.run, 7, true);
  view.setUint32(at + AT.n, 30, true);
  view.setUint32(at + AT.steps, 3, true);
  view.setUint32(at + AT.bins, 2, true);
  view.setFloat64(at + AT.firstWall, 100, true);
  let next = 16 + GRID_BYTES;
  const column = (field: number, values: number[], size: 1 | 4 | 8) => {
    view.setUint32(at + field, next / 8, true);
    values.forEach((v, i) => {
      if (size === 8) view.setFloat64(next + i * 8, v, true);
      else if (size === 4) view.setFloat32(next + i * 4, v, true);
      else view.setUint8(next + i, v);
    });
    next += Math.ceil((values.length * size) / 8) * 8;
  };
  column(AT.step, [0, 10, 30], 8);
  column(AT.wall, [100, 160, 220], 8);
  column(AT.marks, [0, 4, 28], 1);
  column(AT.total, [4, 4, 0], 8);
  column(AT.edges, [0, 1, 2], 8);
  column(AT.shares, [0.25, 0.75, 0.5, 0.25, 0, 0], 4);
  column(AT.below, [0, 0.25, 0], 4);
  column(AT.above, [0, 0, 0], 4);
  column(AT.percentiles, [...Array(9).keys(), ...Array(9).keys(), ...Array<number>(9).fill(NaN)], 8);
  return body;
}
function decoded(): Grid {
  const grids = decodeGrids(reply());
  if (!grids.ok) throw new Error(grids.error.message);
  return grids.value[0];
}

describe('histograms on a grid', () => {
  it('are views into the reply', () => {
    const grid = decoded();
    expect([grid.run, grid.n, grid.steps, grid.bins]).toEqual([7, 30, 3, 2]);
    expect([...grid.step]).toEqual([0, 10, 30]);
    expect([...grid.shares]).toEqual([0.25, 0.75, 0.5, 0.25, 0, 0]);
    expect([...xsOf(grid, 'relative')]).toEqual([0, 60, 120]);
  });
  it('that are cut or of another kind are refused', () => {
    expect(decodeGrids(new ArrayBuffer(4)).ok).toBe(false);
    expect(decodeGrids(reply().slice(0, 300)).ok).toBe(false);
    const other = reply();
    new Uint8Array(other)[0] = 0;
    expect(decodeGrids(other).ok).toBe(false);
  });
  it('tell the nearest step, the bin of a value, and what is wrong', () => {
    const grid = decoded();
    expect([-5, 4, 19, 21, 99].map((step) => nearestStep(grid, step))).toEqual([0, 0, 1, 2, 2]);
    expect([-1, 0, 0.5, 1, 2, 2.1].map((v) => binAt(grid, v))).toEqual([-1, 0, 0, 1, 1, -1]);
    expect([0, 1, 2].map((i) => troubleOf(grid, i))).toEqual([null, 'some', 'nan']);
    expect([0, 1, 2].map((i) => isDrawn(grid, i))).toEqual([true, true, false]);
    expect(nanFrom(grid)).toBe(2);
    expect(beyond(grid)).toEqual({ steps: 1, most: 0.25 });
  });
});

describe('heights', () => {
  it('are shares or counts, and one peak does not flatten the rest', () => {
    const grid = decoded();
    expect(heightsOf(true, false).of(grid, 0, 1)).toBe(0.75);
    expect(heightsOf(false, false).of(grid, 0, 1)).toBe(3);
    const spike = { ...grid, steps: 2, shares: Float32Array.from([0.01, 0.01, 1, 0]), marks: new Uint8Array(2) };
    const flat = { ...spike, shares: Float32Array.from([0.01, 0.01, 0.01, 0.01]) };
    expect(extentOf(heightsOf(true, false), [flat, flat, flat, spike]).peak).toBeCloseTo(0.04);
  });
  it('are from 0 to 1 on either axis', () => {
    const extent = { peak: 1, floor: 0.01 };
    expect(unitHeight(0, true, extent)).toBe(0);
    expect(unitHeight(0.1, true, extent)).toBeCloseTo(0.5);
    expect(unitHeight(0.5, false, extent)).toBe(0.5);
    expect(unitHeight(99, false, extent)).toBe(1.25);
  });
});

describe('the axis of distributions', () => {
  it('holds the bands, not a step that is far from the others', () => {
    const steps = 20;
    const percentiles = Float64Array.from({ length: steps * 9 }, (_, i) => {
      const k = i % 9;
      return Math.floor(i / 9) === 5 ? (k - 4) * 1000 : k - 4;
    });
    const grid = { ...decoded(), steps, percentiles, marks: new Uint8Array(steps) };
    const [low, high] = valueRange([grid], true);
    expect(low).toBeLessThan(-3);
    expect(high).toBeLessThan(10);
    expect(valueRange([], true)).toEqual([0, 1]);
  });
});
