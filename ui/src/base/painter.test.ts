import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Painter } from './painter';

const frames = new Map<number, () => void>();
let asked = 0;
/** One frame of the browser: what was asked for before it began, in that order. */
function frame() {
  const calls = [...frames];
  for (const [id, call] of calls) if (frames.delete(id)) call();
}
beforeEach(() => {
  frames.clear();
  vi.stubGlobal('requestAnimationFrame', (call: () => void) => (frames.set(++asked, call), asked));
  vi.stubGlobal('cancelAnimationFrame', (id: number) => frames.delete(id));
});
afterEach(() => vi.unstubAllGlobals());

describe('a painter', () => {
  it('paints in every frame while a motion changes the picture in every frame', () => {
    const painter = new Painter();
    const painted: number[] = [];
    let at = 0;
    const step = () => {
      const now = ++at;
      if (at < 10) requestAnimationFrame(step);
      painter.ask(() => painted.push(now));
    };
    requestAnimationFrame(step);
    for (let i = 0; i < 11; i++) frame();
    expect(painted).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10]); // the first picture was old when its frame came
  });
  it('paints only the newest of several pictures, and asks for no frame at rest', () => {
    const painter = new Painter();
    const painted: string[] = [];
    painter.ask(() => painted.push('old'));
    painter.ask(() => painted.push('new'));
    frame();
    frame();
    expect(painted).toEqual(['new']);
    expect(frames.size).toBe(0);
  });
  it('paints nothing after its end', () => {
    const painter = new Painter();
    painter.ask(() => expect.unreachable());
    painter.end();
    frame();
    expect(frames.size).toBe(0);
  });
});
