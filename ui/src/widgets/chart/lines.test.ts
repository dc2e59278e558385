import { describe, expect, it } from 'vitest';
import { badPoints, hits, nearestIndex, trace, xExtent, yExtent, type Line, type Pen } from './lines';
import { makeAxis, padded, ticksOf, toPixel, toValue } from './scale';

const f = (...v: number[]) => Float64Array.from(v);
const line = (x: number[], y: number[], name = 'r'): Line => ({
  key: name, name, colour: '#000', x: f(...x), y: f(...y), raw: null, step: null, wall: null, firstWall: 0, live: false,
});
class Recorder implements Pen {
  text: string[] = [];
  moveTo(x: number, y: number) { this.text.push(`M${x},${y}`); }
  lineTo(x: number, y: number) { this.text.push(`L${x},${y}`); }
}
const unit = () => makeAxis('linear', [0, 10], 0, 10);

describe('drawing a line', () => {
  const draw = (x: number[], y: number[]) => {
    const pen = new Recorder();
    trace(pen, f(...x), f(...y), unit(), unit());
    return pen.text.join(' ');
  };
  it('touches every point once', () => expect(draw([0, 1, 2], [3, 4, 5])).toBe('M0,3 L1,4 L2,5'));
  it('breaks where a value is no number', () => expect(draw([0, 1, 2, 3], [3, NaN, 5, 6])).toBe('M0,3 M2,5 L3,6'));
  it('breaks at infinities too', () => expect(draw([0, 1, 2], [3, Infinity, 5])).toBe('M0,3 M2,5'));
  it('begins a new stroke where x falls', () => expect(draw([0, 5, 2, 6], [1, 2, 3, 4])).toBe('M0,1 L5,2 M2,3 L6,4'));
  it('leaves out what a log axis cannot show', () => {
    const pen = new Recorder();
    trace(pen, f(0, 1, 2), f(-1, 1, 10), unit(), makeAxis('log', [1, 10], 0, 1));
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
    const found = hits([line([0, 5, 10], [9, 9, 9], 'far'), line([0, 5, 10], [1, 1, 1], 'near'), line([0, 1], [1, 1], 'ended')], 5, { px: 5, py: 1.5 }, unit(), unit());
    expect(found.map((h) => h.line.name)).toEqual(['near', 'ended', 'far']);
    expect(found[1].outside).toBe(true);
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
    const [low, high] = yExtent([line(y.map((_, i) => i), y)], null, true, 'linear') ?? [0, 0];
    expect(low).toBe(0);
    expect(high).toBeLessThan(3);
  });
  it('have room around them, also of a single value', () => {
    expect(padded([5, 5], 'linear')).toEqual([2.5, 7.5]);
    expect(padded([0, 10], 'linear', 0.1)).toEqual([-1, 11]);
  });
});

describe('axes', () => {
  it('go to pixels and back on every scale', () => {
    for (const kind of ['linear', 'log', 'symlog'] as const) {
      const axis = makeAxis(kind, [1, 1000], 0, 300);
      expect(toPixel(axis, 1)).toBeCloseTo(0);
      expect(toPixel(axis, 1000)).toBeCloseTo(300);
      expect(toValue(axis, toPixel(axis, 42))).toBeCloseTo(42);
    }
  });
  it('have readable ticks', () => {
    expect(ticksOf(makeAxis('linear', [0, 100000], 0, 300), 4, 'number').map((t) => t.text)).toEqual(['0', '20k', '40k', '60k', '80k', '100k']);
    expect(ticksOf(makeAxis('linear', [0, 7200], 0, 300), 4, 'relative').map((t) => t.text)).toEqual(['0', '30 min', '1 h', '1 h 30 min', '2 h']);
  });
});
