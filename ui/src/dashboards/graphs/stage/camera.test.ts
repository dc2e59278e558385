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

describe('the view of a graph that has no room beside the panels', () => {
  it('begins at the left edge of the graph, or in its middle when it is wider than the stage', () => {
    camera.covered = 174;
    camera.start(1400, 2000); // 700 pixels at the least scale
    expect([camera.x, camera.scale]).toEqual([-80, 0.5]);
    camera.start(4000, 2000);
    expect([camera.x + 800, camera.scale]).toEqual([2000, 0.5]);
  });
});

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
