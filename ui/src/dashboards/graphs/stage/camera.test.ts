import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Camera } from './camera.svelte';

let step: FrameRequestCallback;
let camera: Camera;
beforeEach(() => {
  step = () => {};
  vi.stubGlobal('matchMedia', () => ({ matches: false }));
  vi.stubGlobal('cancelAnimationFrame', () => {});
  vi.stubGlobal('requestAnimationFrame', (call: FrameRequestCallback) => ((step = call), 1));
  camera = new Camera();
  [camera.width, camera.height] = [800, 600];
});
afterEach(() => vi.unstubAllGlobals());

describe('a motion of the camera', () => {
  it('never goes back behind its begin, however old the first frame is', () => {
    camera.jump(0, 0, 4);
    camera.fit(8000, 6000);
    step(performance.now() - 300);
    expect(camera.scale).toBe(4);
    step(performance.now() + 1000);
    expect(camera.scale).toBeLessThan(0.1);
  });
  it('is where the next one starts from, however soon it comes', () => {
    camera.jump(0, 0, 1);
    camera.zoom(2);
    camera.zoom(0.5);
    camera.zoom(0.5);
    step(performance.now() + 1000);
    expect([camera.scale, camera.x, camera.y]).toEqual([0.5, -400, -300]);
    camera.zoom(2);
    camera.pan(10, 0);
    expect([camera.scale, camera.x, camera.y]).toEqual([1, -10, 0]);
  });
});
