import { describe, expect, it, vi } from 'vitest';
import type { Rects } from '../shared/columns';
import { coloursFor } from '../kinds';
import { beside, labelFor, paintScene, sliceAt, type Scene } from './paint';
import { LANE, PAD, type Row } from './timeline_rows';

vi.mock('../../../public', () => import('../../../base/search'));

const rects = (items: [start: number, duration: number, depth: number][]): Rects => ({
  track: 1,
  slices: items.length,
  n: items.length,
  lanes: 2,
  start: Float64Array.from(items, ([at]) => at),
  duration: Float64Array.from(items, ([, d]) => d),
  name: new Uint32Array(items.length),
  index: Uint32Array.from(items, (_, i) => i),
  depth: Uint8Array.from(items, ([, , d]) => d),
  kind: new Uint8Array(items.length),
  count: new Uint32Array(items.length).fill(1),
  busy: new Float32Array(items.length).fill(1),
});
const row: Row = { kind: 'track', id: 1, top: 100, height: 50, level: 0, pinned: false, lanes: 2 };
const scene = (of: Rects): Scene => ({
  width: 1000,
  height: 500,
  scroll: 40,
  from: 0,
  perPixel: 10,
  rows: [row],
  tracks: new Map(),
  rects: new Map([[1, of]]),
  curves: new Map(),
  folded: new Map(),
  labels: [],
  colours: coloursFor(false),
  selected: null,
  hovered: null,
  hits: null,
  range: null,
  steps: [],
  flows: [],
  waits: [],
  path: [],
  ticks: [],
});

describe('what is under the pointer', () => {
  const of = rects([
    [0, 1000, 0],
    [2000, 5, 0],
    [100, 300, 1],
  ]);
  const y = (depth: number) => 100 - 40 + PAD + depth * LANE + 4;
  it('is the slice of that lane', () => {
    expect(sliceAt(scene(of), 20, y(0))?.i).toBe(0);
    expect(sliceAt(scene(of), 20, y(1))?.i).toBe(2);
  });
  it('is also one that is narrower than a pixel and near', () => {
    expect(sliceAt(scene(of), 202, y(0))?.i).toBe(1);
  });
  it('is nothing where nothing is', () => {
    expect(sliceAt(scene(of), 150, y(0))).toBe(null);
    expect(sliceAt(scene(of), 20, 400)).toBe(null);
  });
});

describe('labels of slices', () => {
  it('are whole, cut where a good part is left, or not there', () => {
    const six = () => 6;
    expect(labelFor('matmul', 60, six)).toBe('matmul');
    expect(labelFor('aten::convolution_backward', 80, six)).toMatch(/^aten::c.*…$/);
    expect(labelFor('aten::convolution_backward', 30, six)).toBe('');
  });
  it('are cut by the widths of their letters, which are wide in Chinese, and never inside of one', () => {
    const wide = (letter: string) => (letter > '\u2e80' ? 11 : 6);
    expect(labelFor('空闲：等待输入', 84, wide)).toBe('空闲：等待输…');
    expect(labelFor('空闲：等待输入', 85, wide)).toBe('空闲：等待输入');
    expect(labelFor('空闲：主机上的算子', 90, wide)).toBe('空闲：主机上…');
    expect(labelFor('🚀🚀🚀🚀🚀🚀🚀🚀', 75, wide)).toBe('🚀🚀🚀🚀🚀…');
  });
  it('are drawn above the hatching of a wait', () => {
    const drawn: string[] = [];
    const known = {
      stroke: () => drawn.push('hatched'),
      fillText: (text: string) => drawn.push(text),
      measureText: () => ({ width: 6 }),
    };
    const context = new Proxy(known, { get: (of, key) => (key in of ? of[key as keyof typeof of] : () => undefined) });
    const of = rects([[0, 1000, 0]]);
    const waits = [[1, 0, 200, 300, 0]];
    paintScene(context as unknown as CanvasRenderingContext2D, { ...scene(of), labels: ['AllReduce'], waits });
    expect(drawn).toEqual(['hatched', 'AllReduce']);
  });
});

describe('flows', () => {
  it('leave a slice between two lanes, towards the other end, and do not strike out its name', () => {
    const starts: number[][] = [];
    const known = {
      bezierCurveTo: () => undefined,
      moveTo: (...at: number[]) => starts.push(at),
      measureText: () => ({ width: 6 }),
    };
    const context = new Proxy(known, { get: (of, key) => (key in of ? of[key as keyof typeof of] : () => undefined) });
    const of = rects([
      [0, 1000, 0],
      [2000, 100, 1],
    ]);
    const [upper, lower] = [
      [1, 0, 0, 0],
      [1, 1, 2000, 1],
    ] as const;
    const flows = [
      [...upper, ...lower, 2],
      [...lower, ...upper, 2],
    ] as const;
    paintScene(context as unknown as CanvasRenderingContext2D, { ...scene(of), flows });
    const top = 100 - 40 + PAD;
    expect([starts[0], starts[2]]).toEqual([
      [0, top + LANE - 1],
      [200, top + LANE - 1],
    ]);
  });
});

describe('arrow keys', () => {
  const of = rects([
    [0, 1000, 0],
    [2000, 5, 0],
    [100, 300, 1],
    [500, 100, 1],
  ]);
  it('go along a lane, and stop at its ends', () => {
    expect(beside(of, 0, 1, 0)).toBe(1);
    expect(beside(of, 1, 1, 0)).toBe(-1);
    expect(beside(of, 3, -1, 0)).toBe(2);
  });
  it('go into a slice and out of it', () => {
    expect(beside(of, 0, 0, 1)).toBe(2);
    expect(beside(of, 3, 0, -1)).toBe(0);
    expect(beside(of, 1, 0, 1)).toBe(-1);
  });
});

/** A canvas that notes which rectangles were clipped to or filled, and in which colour. */
function noting() {
  const clips: number[][] = [];
  const fills: [colour: string, x: number, y: number, wide: number][] = [];
  const known = {
    fillStyle: '',
    rect: (x: number, y: number, wide: number) => clips.push([x, y, wide]),
    fillRect: (x: number, y: number, wide: number) => fills.push([known.fillStyle, x, y, wide]),
    measureText: () => ({ width: 1 }),
  };
  const context = new Proxy(known, { get: (of, key) => (key in of ? of[key as keyof typeof of] : () => undefined) });
  return { context: context as unknown as CanvasRenderingContext2D, clips, fills };
}

describe('waits and the critical path', () => {
  const of = rects([[0, 1000, 0]]);
  const top = 100 - 40 + PAD;
  it('hatch the part of a collective that waits, where it is wide enough to be seen', () => {
    const wide = noting();
    paintScene(wide.context, { ...scene(of), waits: [[1, 0, 200, 300, 0], [1, 0, 900, 20, 0], [9, 0, 0, 500, 0]] }); // prettier-ignore
    expect(wide.clips).toContainEqual([20, top, 30]);
    expect(wide.clips.filter(([, y]) => y === top)).toHaveLength(1);
  });
  it('underline the slices of the path; pieces that touch are one line', () => {
    const line = noting();
    const path = [
      [1, 0, 100, 50, 0, 0],
      [1, 0, 150, 250, 0, 0],
      [1, 1, 400, 100, 0, 1],
    ];
    paintScene(line.context, { ...scene(of), path });
    const drawn = line.fills.filter(([colour]) => colour === coloursFor(false).path);
    expect(drawn.map(([, x, y, wide]) => [x, y > top + LANE, wide])).toEqual([
      [10, false, 5],
      [15, false, 25],
      [40, true, 10],
    ]);
  });
  it('mark every pixel of the path where its pieces are narrower than one', () => {
    const many = noting();
    const path = Array.from({ length: 40 }, (_, i) => [1, i % 2, 100 + 2 * i, 2, 0, 0]); // 0.2 pixels each
    paintScene(many.context, { ...scene(of), path });
    const drawn = many.fills.filter(([colour]) => colour === coloursFor(false).path);
    expect(drawn.length).toBeGreaterThanOrEqual(7);
    expect(drawn.length).toBeLessThanOrEqual(9);
  });
});
