import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadPart } from './part';

describe('a part of the page', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('that cannot be loaded is tried again until it is there, and every failure is told', async () => {
    let left = 3;
    const told: string[] = [];
    const load = () => (left-- > 0 ? Promise.reject(new Error('gone')) : Promise.resolve('code'));
    const part = loadPart(load, (e) => told.push(String(e)), new AbortController().signal);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await part).toBe('code');
    expect(told).toEqual(Array(3).fill('Error: gone'));
  });
  it('that nobody wants any more is not tried again', async () => {
    const stop = new AbortController();
    const load = vi.fn(() => Promise.reject(new Error('gone')));
    const part = loadPart(load, () => {}, stop.signal);
    await vi.advanceTimersByTimeAsync(10);
    stop.abort();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await part).toBeNull();
    expect(load).toHaveBeenCalledTimes(1);
  });
});
