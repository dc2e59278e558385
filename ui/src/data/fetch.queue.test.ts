import { describe, expect, it } from 'vitest';
import { AHEAD, BACKGROUND, FetchQueue, IN_SIGHT, type Priority } from './fetch.queue';

/** A queue whose jobs end when told to; `started` is the order in which they began. */
function fake() {
  const queue = new FetchQueue();
  const started: number[] = [];
  const aborted: number[] = [];
  const ends = new Map<number, () => void>();
  const add = (id: number, priority: Priority) =>
    queue.add(id, priority, (signal) => {
      started.push(id);
      signal.addEventListener('abort', () => aborted.push(id));
      return new Promise((done) => ends.set(id, done));
    });
  const end = async (id: number) => {
    ends.get(id)?.();
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
  };
  return { queue, started, aborted, add, end };
}

describe('the queue of requests', () => {
  it('runs two at a time, in sight before ahead before background', async () => {
    const { started, add, end } = fake();
    add(1, IN_SIGHT);
    add(2, IN_SIGHT);
    add(3, BACKGROUND);
    add(4, AHEAD);
    add(5, IN_SIGHT);
    expect(started).toEqual([1, 2]);
    await end(1);
    await end(2);
    await end(5);
    await end(4);
    expect(started).toEqual([1, 2, 5, 4, 3]);
  });
  it('leaves a place free of background requests', async () => {
    const { started, add, end } = fake();
    add(1, BACKGROUND);
    add(2, BACKGROUND);
    add(3, IN_SIGHT);
    expect(started).toEqual([1, 3]);
    await end(3);
    expect(started).toEqual([1, 3]);
    await end(1);
    expect(started).toEqual([1, 3, 2]);
  });
  it('forgets a waiting request that is cancelled and aborts a running one', async () => {
    const { queue, started, aborted, add, end } = fake();
    [1, 2, 3, 4].forEach((id) => add(id, IN_SIGHT));
    queue.cancel(3);
    queue.cancel(1);
    expect(aborted).toEqual([1]);
    await end(1);
    expect(started).toEqual([1, 2, 4]);
  });
  it('starts a background request at once when it comes into sight and there is a place', () => {
    const { queue, started, add } = fake();
    add(1, BACKGROUND);
    add(2, BACKGROUND);
    expect(started).toEqual([1]);
    queue.move(2, IN_SIGHT);
    expect(started).toEqual([1, 2]);
  });
  it('moves a waiting request that came into sight to the front', async () => {
    const { queue, started, add, end } = fake();
    add(1, IN_SIGHT);
    add(2, IN_SIGHT);
    add(3, AHEAD);
    add(4, AHEAD);
    queue.move(4, IN_SIGHT);
    await end(1);
    expect(started).toEqual([1, 2, 4]);
  });
});
