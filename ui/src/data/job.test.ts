// Following a background job: asks when the stream has news, seldom without, and cancels a job that nobody waits for.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { api } from './api';
import { followJob, STOPPED } from './job';
import { hearJobs } from './job.news';

const job = (state: string, done = 0) => ({
  ok: true,
  value: { job: { id: 7, kind: 'graph', state, done, total: 4, bytes: 0 } },
});
const settle = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const submit = vi.spyOn(api, 'submitJob');
const ask = vi.spyOn(api, 'job');
const cancel = vi.spyOn(api, 'cancelJob');

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetAllMocks();
  submit.mockResolvedValue(job('running') as never);
  ask.mockResolvedValue(job('running', 1) as never);
  cancel.mockResolvedValue({ ok: true, value: {} } as never);
});
afterEach(() => vi.useRealTimers());

describe('following a job', () => {
  it('asks when the stream tells that jobs went on, and seldom without', async () => {
    const followed = followJob({ kind: 'graph', args: {} } as never, new AbortController().signal, () => {});
    await settle(2000); // after 150, 450 and 1050 ms
    expect(ask).toHaveBeenCalledTimes(3);
    hearJobs();
    await settle(0);
    expect(ask).toHaveBeenCalledTimes(4);
    await settle(2100);
    expect(ask).toHaveBeenCalledTimes(5);
    ask.mockResolvedValue(job('done', 4) as never);
    hearJobs();
    await settle(200);
    expect(await followed).toEqual({ ok: true, value: 7 });
  });

  it('asks a few times a second at most, however much news there is, and misses none', async () => {
    const over = new AbortController();
    void followJob({ kind: 'graph', args: {} } as never, over.signal, () => {});
    for (let ms = 0; ms < 1000; ms += 10) {
      hearJobs();
      await settle(10);
    }
    expect(ask.mock.calls.length).toBeGreaterThan(4);
    expect(ask.mock.calls.length).toBeLessThan(8);
    ask.mockResolvedValue(job('running', 3) as never);
    hearJobs(); // while it rests
    await settle(200);
    const before = ask.mock.calls.length;
    expect(before).toBeGreaterThan(5);
    over.abort();
    await settle(0);
  });

  it('goes on where a question fails for a moment, not before the server wants to be asked, and gives up in the end', async () => {
    const busy = { code: 'busy', message: 'too much at once', isTemporary: true, retryAfter: 3000 };
    ask.mockResolvedValueOnce({ ok: false, error: busy } as never);
    const followed = followJob({ kind: 'graph', args: {} } as never, new AbortController().signal, () => {});
    await settle(2900);
    expect(ask).toHaveBeenCalledTimes(1);
    ask.mockResolvedValue(job('done', 4) as never);
    await settle(1000);
    expect(await followed).toEqual({ ok: true, value: 7 });

    ask.mockResolvedValue({ ok: false, error: { code: 'offline', message: 'no network', isTemporary: true } } as never);
    const lost = followJob({ kind: 'graph', args: {} } as never, new AbortController().signal, () => {});
    await settle(300_000);
    expect(await lost).toMatchObject({ ok: false, error: { code: 'offline' } });
  });

  it('does not ask again where the server says that there is no such job', async () => {
    ask.mockResolvedValue({ ok: false, error: { code: 'not_found', message: 'gone', isTemporary: false } } as never);
    const followed = followJob({ kind: 'graph', args: {} } as never, new AbortController().signal, () => {});
    await settle(300_000);
    expect(await followed).toMatchObject({ ok: false, error: { code: 'not_found' } });
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it('cancels the job when nobody waits for it any longer', async () => {
    const over = new AbortController();
    const followed = followJob({ kind: 'graph', args: {} } as never, over.signal, () => {});
    await settle(100);
    over.abort();
    expect(await followed).toMatchObject({ ok: false, error: { code: STOPPED } });
    expect(cancel).toHaveBeenCalledWith(7);
    await settle(5000);
    expect(ask).toHaveBeenCalledTimes(0);
  });
});
