import { describe, expect, it, vi } from 'vitest';

vi.mock('../view.svelte', () => ({ MOST_SCALE: 256, WHOLE_PICTURE: { scale: 1, x: 0.5, y: 0.5 } }));
const { panBy, pixelAt, placeIn, zoomAt } = await import('./place');

const box = { width: 300, height: 200 };
describe('a picture in its box', () => {
  it('is as large as fits, small ones by whole numbers', () => {
    expect(placeIn({ width: 600, height: 200 }, box)).toMatchObject({
      left: 0,
      top: 50,
      width: 300,
      height: 100,
      pixel: 0.5,
    });
    expect(placeIn({ width: 30, height: 30 }, box)).toMatchObject({ pixel: 6, left: 60, top: 10 });
  });
  it('shows the pixel under the pointer', () => {
    const placed = placeIn({ width: 30, height: 30 }, box);
    expect(pixelAt(placed, 60, 10)).toEqual([0, 0]);
    expect(pixelAt(placed, 239, 189)).toEqual([29, 29]);
    expect(pixelAt(placed, 59, 10)).toBe(null);
    expect(pixelAt(placed, 240, 10)).toBe(null);
  });
  it('keeps what is under the pointer when it is zoomed', () => {
    const picture = { width: 30, height: 30 };
    let zoom = { scale: 1, x: 0.5, y: 0.5 };
    for (let i = 0; i < 5; i++) zoom = zoomAt(picture, box, zoom, 150, 100, 2);
    expect(pixelAt(placeIn(picture, box, zoom), 150, 100)).toEqual(pixelAt(placeIn(picture, box), 150, 100));
    expect(zoomAt(picture, box, zoom, 10, 10, 1e-9)).toEqual({ scale: 1, x: 0.5, y: 0.5 });
    expect(zoomAt(picture, box, zoom, 10, 10, 1e9).scale).toBe(256);
  });
  it('is moved as far as it reaches', () => {
    const picture = { width: 30, height: 30 };
    const zoom = { scale: 10, x: 0.5, y: 0.5 };
    const before = placeIn(picture, box, zoom);
    const after = placeIn(picture, box, panBy(picture, box, zoom, 7, -9));
    expect(after.left - before.left).toBeCloseTo(7);
    expect(after.top - before.top).toBeCloseTo(-9);
    expect(placeIn(picture, box, panBy(picture, box, zoom, 1e6, 1e6))).toMatchObject({ left: 0, top: 0 });
  });
});
