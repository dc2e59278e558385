// The order of requests: first what is visible, then one neighbour after the other.
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Ahead, type Load } from './ahead';

let isAwaited = false;
vi.mock('../../public', () => ({ isAwaited: () => isAwaited }));

let frames: (() => void)[] = [];
let asked: string[] = [];
let dropped: string[] = [];
let ends = new Map<string, () => void>();
function start(url: string): Load {
  asked.push(url);
  return {
    over: new Promise<void>((done) => ends.set(url, done)),
    drop: () => {
      dropped.push(url);
      ends.get(url)?.();
    },
  };
}
const settle = () => new Promise((done) => setTimeout(done));
/** Waits for this many frames. Pending requests do not end by themselves. */
async function pass(n = 5): Promise<void> {
  for (let i = 0; i < n; i++) {
    frames.splice(0).forEach((frame) => frame());
    await settle();
  }
}
async function end(url: string): Promise<void> {
  ends.get(url)?.();
  await settle();
  await pass();
}

beforeEach(() => {
  isAwaited = false;
  frames = [];
  asked = [];
  dropped = [];
  ends = new Map();
  vi.stubGlobal('requestAnimationFrame', (frame: () => void) => frames.push(frame));
});

describe('what is loaded ahead', () => {
  it('comes one at a time, the first of every owner before the second of any', async () => {
    const ahead = new Ahead();
    ahead.want({}, ['a1', 'a2'], start);
    ahead.want({}, ['b1', 'b2'], start);
    await pass();
    expect(asked).toEqual(['a1']);
    for (const url of ['a1', 'b1', 'a2', 'b2']) await end(url);
    expect(asked).toEqual(['a1', 'b1', 'a2', 'b2']);
    expect(frames).toEqual([]); // no frame is requested any more when everything is loaded
  });

  it('waits for the answers and the bytes of what is in sight', async () => {
    const ahead = new Ahead();
    isAwaited = true;
    ahead.want({}, ['a1', 'a2'], start);
    await pass();
    const release = ahead.hold();
    isAwaited = false;
    await pass();
    expect(asked).toEqual([]);
    release();
    await pass();
    expect(asked).toEqual(['a1']);
    const again = ahead.hold();
    await end('a1');
    expect(asked).toEqual(['a1']);
    again();
    await pass();
    expect(asked).toEqual(['a1', 'a2']);
  });

  it('does not begin in the frame in which something comes into sight', async () => {
    const ahead = new Ahead();
    ahead.want({}, ['a1'], start);
    await pass(2);
    isAwaited = true;
    await pass(1);
    isAwaited = false;
    await pass(2);
    expect(asked).toEqual([]);
    await pass(1);
    expect(asked).toEqual(['a1']);
  });

  it('is cancelled when it is not wanted any more; what still is goes on', async () => {
    const ahead = new Ahead();
    const owner = {};
    ahead.want(owner, ['a1', 'a2'], start);
    await pass();
    ahead.want(owner, ['a1', 'a3'], start);
    await pass();
    expect([asked, dropped]).toEqual([['a1'], []]);
    ahead.want(owner, ['a4'], start);
    await pass();
    expect([asked, dropped]).toEqual([['a1', 'a4'], ['a1']]);
    ahead.forget(owner);
    await pass();
    expect([asked, dropped]).toEqual([
      ['a1', 'a4'],
      ['a1', 'a4'],
    ]);
  });
});
