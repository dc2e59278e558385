import { describe, expect, it, vi } from 'vitest';

vi.mock('../../public', async () => ({
  format: await vi.importActual('../../base/numbers/format'),
  ...(await vi.importActual<object>('../../base/names/natural')),
}));
const { ordered, placeOf, rowsOf, shortNames, tableText } = await import('./tooltip');
type Hits = Parameters<typeof ordered>[0];

const f = (...v: number[]) => Float64Array.from(v);
const hit = (name: string, y: number, py: number, distance: number, outside = false) =>
  ({
    line: { key: name, name, y: f(y), raw: null, step: f(7), wall: f(20), firstWall: 5, x: f(7) },
    index: 0,
    px: 0,
    py,
    distance,
    outside,
  }) as unknown as Hits[number];
const all = [
  hit('b', 3, 10, 4),
  hit('a', 1, 90, 2),
  hit('c', 2, 52, 9),
  hit('gone', 2.5, 50, 0, true),
  hit('n', NaN, NaN, 1e6),
];
const names = (sort: Parameters<typeof ordered>[1]) =>
  ordered(all, sort, 50)
    .map((h) => h.line.name)
    .join(' ');

describe('the rows of a tooltip', () => {
  it('come by distance in pixels', () => expect(names('nearest')).toBe('a b c n gone'));
  it('come by distance in y, above or below alike', () => expect(names('nearestY')).toBe('c a b n gone'));
  it('come by value and by name, what is no number last', () => {
    expect(names('ascending')).toBe('a c b n gone');
    expect(names('descending')).toBe('b c a n gone');
    expect(names('name')).toBe('a b c n gone');
  });
  it('are those nearest to the pointer, in their order; what ended is left out while others go on', () => {
    const near = [all[1], all[0], all[2], all[4], all[3]];
    expect(rowsOf(near, 2, 'drawn', 50).map((h) => h.line.name)).toEqual(['b', 'a']);
    expect(rowsOf(near, 12, 'drawn', 50).map((h) => h.line.name)).toEqual(['b', 'c', 'a', 'n']);
    expect(rowsOf([all[3]], 12, 'drawn', 50).map((h) => h.line.name)).toEqual(['gone']);
  });
  it('stand beside the pointer and the point, wherever the point is', () => {
    const card = { left: 0, top: 0, right: 400, bottom: 300 };
    const window = { width: 1000, height: 800 };
    const size = { width: 200, height: 100 };
    const spot = { left: 100, right: 180, top: 60, bottom: 90 };
    expect(placeOf(spot, size, card, window).left).toBeGreaterThan(180);
    const atEdge = { left: 850, right: 930, top: 60, bottom: 90 };
    expect(placeOf(atEdge, size, { ...card, left: 600, right: 1000 }, window).left + size.width).toBeLessThan(850);
    const narrow = placeOf(spot, size, card, { width: 300, height: 800 });
    expect(narrow.top).toBeGreaterThan(90);
  });
  it('leave the title of their card in sight where they stand above or below the point', () => {
    const card = { left: 0, top: 300, right: 390, bottom: 600 };
    const phone = { width: 390, height: 844 };
    const size = { width: 340, height: 100 };
    for (const y of [370, 420, 440, 470, 560]) {
      const { top } = placeOf({ left: 195, right: 195, top: y, bottom: y }, size, card, phone);
      expect(top).toBeGreaterThanOrEqual(336);
      expect(top + size.height).toBeLessThanOrEqual(608);
      expect(top > y || top + size.height < y).toBe(true);
    }
    // the card ends below the window
    expect(placeOf({ left: 195, right: 195, top: 420, bottom: 420 }, size, card, { width: 390, height: 500 }).top).toBe(
      308,
    );
  });
  it('abbreviate validation in long names, unless two would be alike', () => {
    const labels = (...names: string[]) => [...shortNames(new Map(names.map((name) => [name, name]))).values()];
    expect(labels('adam-lr0.01-seed1/validation', 'a/validation')).toEqual(['adam-lr0.01-seed1/val', 'a/validation']);
    expect(labels('adam-lr0.01-s1/validation', 'adam-lr0.01-s1/val')).toEqual([
      'adam-lr0.01-s1/validation',
      'adam-lr0.01-s1/val',
    ]);
  });
  it('are copied with all digits', () =>
    expect(tableText([all[0]], ['run', 'smoothed', 'value', 'step', 'time', 'relative'])).toBe(
      'run\tsmoothed\tvalue\tstep\ttime\trelative\nb\t3\t3\t7\t1970-01-01T00:00:20.000Z\t15',
    ));
});
