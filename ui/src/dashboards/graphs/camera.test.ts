import { afterEach, describe, expect, it, vi } from 'vitest';
import { Camera } from './camera.svelte';

afterEach(() => vi.unstubAllGlobals());

describe('a motion of the camera', () => {
  it('never goes back behind its begin, however old the first frame is', () => {
    let step: FrameRequestCallback = () => {};
    vi.stubGlobal('matchMedia', () => ({ matches: false }));
    vi.stubGlobal('cancelAnimationFrame', () => {});
    vi.stubGlobal('requestAnimationFrame', (call: FrameRequestCallback) => ((step = call), 1));
    const camera = new Camera();
    [camera.width, camera.height] = [800, 600];
    camera.jump(0, 0, 4);
    camera.fit(8000, 6000);
    step(performance.now() - 300);
    expect(camera.scale).toBe(4);
    step(performance.now() + 1000);
    expect(camera.scale).toBeLessThan(0.1);
  });
});
