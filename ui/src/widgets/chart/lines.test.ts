import { describe, expect, it } from 'vitest';
import {
  badPoints,
  hits,
  leastOf,
  lonePoints,
  nearestIndex,
  trace,
  xExtent,
  yExtent,
  type Line,
  type Pen,
} from './lines';
import {
  makeAxis as axisOf,
  padded,
  projectionOf,
  roundAt,
  ticksOf,
  toPixel,
  toValue,
  type Range,
  type ScaleKind,
} from './scale';

const f = (...v: number[]) => Float64Array.from(v);
const line = (x: number[], y: number[], name = 'r'): Line => ({
  key: name,
  name,
  colour: '#000',
  x: f(...x),
  y: f(...y),
  raw: null,
  step: null,
  wall: null,
  firstWall: 0,
  live: false,
});
const makeAxis = (kind: ScaleKind, domain: Range, from: number, to: number) =>
  axisOf(projectionOf(kind, domain), domain, from, to);
class Recorder implements Pen {
  text: string[] = [];
  moveTo(x: number, y: number) {
    this.text.push(`M${x},${y}`);
  }
  lineTo(x: number, y: number) {
    this.text.push(`L${x},${y}`);
  }
}
const unit = () => makeAxis('linear', [0, 10], 0, 10);

describe('drawing a line', () => {
  const draw = (x: number[], y: number[], free = false) => {
    const pen = new Recorder();
    trace(pen, { x: f(...x), free }, f(...y), unit(), unit());
    return pen.text.join(' ');
  };
  it('touches every point once', () => expect(draw([0, 1, 2], [3, 4, 5])).toBe('M0,3 L1,4 L2,5'));
  it('breaks where a value is no number', () => expect(draw([0, 1, 2, 3], [3, NaN, 5, 6])).toBe('M0,3 M2,5 L3,6'));
  it('breaks at infinities too', () => expect(draw([0, 1, 2], [3, Infinity, 5])).toBe('M0,3 M2,5'));
  it('begins a new stroke where x falls', () => expect(draw([0, 5, 2, 6], [1, 2, 3, 4])).toBe('M0,1 L5,2 M2,3 L6,4'));
  it('goes on where x falls, when it is free to', () =>
    expect(draw([0, 5, 2, 6], [1, 2, 3, 4], true)).toBe('M0,1 L5,2 L2,3 L6,4'));
  it('leaves out what a log axis cannot show', () => {
    const pen = new Recorder();
    trace(pen, { x: f(0, 1, 2) }, f(-1, 1, 10), unit(), makeAxis('log', [1, 10], 0, 1));
    expect(pen.text).toEqual(['M1,0', 'L2,1']);
  });
});

describe('finding points', () => {
  it('by the nearest x', () => {
    expect(nearestIndex(f(0, 10, 20), 14)).toBe(1);
    expect(nearestIndex(f(0, 10, 20), 15.1)).toBe(2);
    expect(nearestIndex(f(0, 10, 20), 99)).toBe(2);
    expect(nearestIndex(f(), 1)).toBe(-1);
  });
  it('puts the line under the pointer first, and says which have ended', () => {
    const found = hits(
      [line([0, 5, 10], [9, 9, 9], 'far'), line([0, 5, 10], [1, 1, 1], 'near'), line([0, 1], [1, 1], 'ended')],
      5,
      { px: 5, py: 1.5 },
      unit(),
      unit(),
    );
    expect(found.map((h) => h.line.name)).toEqual(['near', 'far', 'ended']);
    expect(found[2].outside).toBe(true);
  });
  it('in every stroke, where x falls between them', () => {
    const restarted = { ...line([0, 5, 10, 6, 9], [1, 2, 3, 4, 5]), strokes: [0, 3] };
    expect(hits([restarted], 6, null, unit(), unit())[0].index).toBe(3);
    expect(hits([restarted], 10, null, unit(), unit())[0].index).toBe(2);
  });
  it('by the axis the line is on', () => {
    const right = makeAxis('linear', [0, 100], 0, 10);
    const found = hits([line([5], [5], 'l'), { ...line([5], [50], 'r'), right: true }], 5, null, unit(), unit(), right);
    expect(found.map((h) => h.py)).toEqual([5, 5]);
  });
  it('that stand alone between gaps', () => {
    expect(lonePoints(line([0, 1, 2, 3, 4], [1, NaN, 5, Infinity, 7]))).toEqual([0, 2, 4]);
    expect(lonePoints(line([0, 1, 2], [1, 2, NaN]))).toEqual([]);
    expect(lonePoints(line([0], [1]))).toEqual([0]);
  });
  it('marks what is no number at the last height', () => {
    expect(badPoints(line([0, 1, 2], [4, NaN, 5]))).toEqual([{ x: 1, y: 4, v: NaN }]);
  });
});

describe('ranges', () => {
  it('look at finite values in sight only', () => {
    const lines = [line([0, 1, 2, 3], [1, Infinity, NaN, 100])];
    expect(xExtent(lines, 'linear')).toEqual([0, 3]);
    expect(yExtent(lines, null, false, 'linear')).toEqual([1, 100]);
    expect(yExtent(lines, [0, 2], false, 'linear')).toEqual([1, 1]);
  });
  it('can leave out far outliers but nothing near', () => {
    const y = Array.from({ length: 200 }, (_, i) => i / 200);
    y[100] = 1e6;
    const [low, high] = yExtent(
      [
        line(
          y.map((_, i) => i),
          y,
        ),
      ],
      null,
      true,
      'linear',
    ) ?? [0, 0];
    expect(low).toBe(0);
    expect(high).toBeLessThan(3);
  });
  it('of a band are those of its members without the one that is far off, and of its mean', () => {
    const x = Array.from({ length: 50 }, (_, i) => i);
    const fill = (v: number) => x.map((i) => v + i / 50);
    const band = { low: f(...fill(1)), high: f(...fill(1000)), count: f(...x.map(() => 20)) };
    const mean = line(x, fill(60));
    const range = (inner: Float64Array) => yExtent([{ ...mean, band: { ...band, inner } }], null, true, 'linear');
    expect(range(f(...fill(1), ...fill(5)))).toEqual([1, 60.98]);
    expect(range(f())).toEqual([1, 1000.98]);
  });
  it('have room around them, also of a single value', () => {
    expect(padded([5, 5], projectionOf('linear', null))).toEqual([2.5, 7.5]);
    expect(padded([0, 10], projectionOf('linear', null), 0.1)).toEqual([-1, 11]);
  });
});

describe('axes', () => {
  it('are told by few digits where a hand points, and stay at that pixel', () => {
    for (const kind of ['linear', 'log', 'symlog'] as ScaleKind[])
      for (const range of [
        [1, 2000],
        [1e-9, 1e-3],
        [0.25, 0.2501],
        [1.7e9, 1.7e9 + 60],
      ] as Range[]) {
        const axis = axisOf(projectionOf(kind, range), range, 0, 300);
        for (const pixel of [0, 17.5, 111, 300]) {
          const v = roundAt(axis, pixel);
          expect(Math.abs(toPixel(axis, v) - pixel)).toBeLessThan(0.051);
          expect(String(v).length).toBeLessThanOrEqual(String(toValue(axis, pixel)).length);
        }
      }
    const steps = axisOf(projectionOf('linear', [0, 2000]), [0, 2000], 0, 300);
    expect([roundAt(steps, 100), roundAt(steps, 150)]).toEqual([667, 1000]);
  });

  it('go to pixels and back on every scale', () => {
    for (const kind of ['linear', 'log', 'symlog'] as const) {
      const axis = makeAxis(kind, [1, 1000], 0, 300);
      expect(toPixel(axis, 1)).toBeCloseTo(0);
      expect(toPixel(axis, 1000)).toBeCloseTo(300);
      expect(toValue(axis, toPixel(axis, 42))).toBeCloseTo(42);
    }
  });
  it('go through zero and to negative values on symlog, evenly on both sides', () => {
    const axis = makeAxis('symlog', [-1000, 1000], 0, 300);
    expect(toPixel(axis, 0)).toBeCloseTo(150);
    expect(toPixel(axis, -1000)).toBeCloseTo(0);
    expect(150 - toPixel(axis, -30)).toBeCloseTo(toPixel(axis, 30) - 150);
    for (const v of [-720, -1e-3, 0, 2e-4, 55]) expect(toValue(axis, toPixel(axis, v))).toBeCloseTo(v, 9);
    expect(ticksOf(axis, 8, 'number').map((t) => t.text)).toEqual(['−1000', '−100', '−10', '0', '10', '100', '1000']);
  });
  it('of symlog fit the size of the data: a small gradient is not flat', () => {
    const axis = makeAxis('symlog', [-2e-5, 3e-4], 0, 300);
    expect(toPixel(axis, 1e-6) - toPixel(axis, 0)).toBeGreaterThan(10);
    expect(ticksOf(axis, 6, 'number').map((t) => t.text)).toEqual(['−1e−5', '−1e−6', '0', '1e−6', '1e−5', '1e−4']);
  });
  it('have ticks on every log scale, however short or long', () => {
    for (const [from, to] of [
      [1.2, 9],
      [3, 3.5],
      [1e-8, 1e6],
      [0.5, 2000],
      [1e-300, 1e300],
    ] as Range[])
      for (const n of [2, 4, 8]) {
        const ticks = ticksOf(makeAxis('log', [from, to], 0, 300), n, 'number');
        expect(ticks.length).toBeGreaterThanOrEqual(2);
        expect(ticks.length).toBeLessThanOrEqual(n * 3);
        for (const t of ticks) expect(t.v >= from && t.v <= to).toBe(true);
      }
    expect(ticksOf(makeAxis('log', [1, 1000], 0, 300), 4, 'number').map((t) => t.text)).toEqual([
      '1',
      '10',
      '100',
      '1000',
    ]);
  });
  it('have readable ticks', () => {
    expect(ticksOf(makeAxis('linear', [0, 4e12], 0, 300), 4, 'number').map((t) => t.text)).toEqual([
      '0',
      '1T',
      '2T',
      '3T',
      '4T',
    ]);
    expect(ticksOf(makeAxis('linear', [0, 4e19], 0, 300), 4, 'number').map((t) => t.text)).toEqual([
      '0',
      '1e19',
      '2e19',
      '3e19',
      '4e19',
    ]);
    expect(ticksOf(makeAxis('linear', [0, 3e-4], 0, 300), 3, 'number').map((t) => t.text)).toEqual([
      '0',
      '1e−4',
      '2e−4',
      '3e−4',
    ]);
    expect(ticksOf(makeAxis('linear', [0, 3], 0, 300), 6, 'whole').map((t) => t.text)).toEqual(['0', '1', '2', '3']);
    expect(ticksOf(makeAxis('linear', [0, 100000], 0, 300), 4, 'number').map((t) => t.text)).toEqual([
      '0',
      '20k',
      '40k',
      '60k',
      '80k',
      '100k',
    ]);
    expect(ticksOf(makeAxis('linear', [0, 7200], 0, 300), 4, 'relative').map((t) => t.text)).toEqual([
      '0',
      '30 min',
      '1 h',
      '1 h 30 min',
      '2 h',
    ]);
  });
});

describe('of very many lines', () => {
  it('only the nearest are found, the same ones as among all', () => {
    const many = Array.from({ length: 500 }, (_, i) => line([5], [(i * 37) % 500], `l${i}`));
    const pointer = { px: 5, py: 250 };
    const all = hits(many, 5, pointer, unit(), unit());
    const some = hits(many, 5, pointer, unit(), unit(), unit(), 10);
    expect(all.length).toBe(500);
    expect(some.map((hit) => hit.distance)).toEqual(all.slice(0, 10).map((hit) => hit.distance));
  });
  it('the least are in order, however they come', () => {
    expect(leastOf(Float64Array.of(5, 1, Infinity, 4, 2, 3), 6, 3)).toEqual([1, 4, 5]);
    expect(leastOf(Float64Array.of(5, 1, Infinity, 4), 4, 9)).toEqual([1, 3, 0]);
    expect(leastOf(Float64Array.of(3, 2, 1, 0), 4, 2)).toEqual([3, 2]);
  });
});
