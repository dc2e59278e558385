// A drawing that is too large for one request is made by a job with progress; leaving cancels the job; the old drawing
// stays visible.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LargeDrawing as LargeClass } from './large.svelte';

vi.mock('../../../public', async () => ({
  ...(await import('../../../data/api')),
  ...(await import('../../../data/job')),
  ...(await import('../../../base/result')),
}));
let Large: typeof LargeClass;
let asked: string[];
let job: { id: number; state: string; done: number; total: number; error?: string };
const ASK = { source: { graph: { run: 1, tag: '__run_graph__' } }, open: [] };
const DRAWING = { w: 7 };
const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

beforeEach(async () => {
  vi.useFakeTimers();
  asked = [];
  vi.stubGlobal('document', { baseURI: 'http://here/' });
  job = { id: 7, state: 'waiting', done: 0, total: 0 };
  vi.stubGlobal('fetch', (url: string, init?: RequestInit) => {
    const path = url.slice(url.indexOf('/v1/') + 4);
    asked.push(`${init?.method ?? 'GET'} ${path}`);
    const reply = path.startsWith('job/result') ? DRAWING : { version: 1, job };
    return Promise.resolve(new Response(JSON.stringify(reply), { status: 200 }));
  });
  ({ LargeDrawing: Large } = await import('./large.svelte'));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function made() {
  const large = new Large();
  const done = vi.fn();
  return { large, done, end: large.make('one', ASK, done) };
}

describe('a drawing that is too large for a reply', () => {
  it('is made by a job that is followed until it is done', async () => {
    const { large, done, end } = made();
    await settle();
    expect([large.isRunning, large.of('one')]).toEqual([true, undefined]);
    job = { ...job, state: 'running', done: 300, total: 1000 };
    await settle(200);
    expect(large.share).toBe(0.3);
    job = { ...job, state: 'done' };
    (await import('../../../data/job.news')).hearJobs();
    await settle(200);
    expect(large.isRunning).toBe(false);
    expect([large.of('one'), large.of('another')]).toEqual([DRAWING, undefined]);
    expect(done).toHaveBeenCalledOnce();
    expect([asked[0], asked.at(-1)]).toEqual(['POST jobs', 'GET job/result?id=7']);
    end();
    await settle(1000);
    expect(asked.some((one) => one.startsWith('DELETE'))).toBe(false);
  });
  it('is cancelled when nobody waits for it any more, and what was shown stays', async () => {
    const { large, done, end } = made();
    large.hold('one', { w: 1 } as never);
    await settle();
    end();
    await settle(1000);
    expect(asked.at(-1)).toBe('DELETE job?id=7');
    expect([large.isRunning, large.of('one')]).toEqual([false, { w: 1 }]);
    expect(done).not.toHaveBeenCalled();
  });
  it('says why it could not be made, and makes it when it is asked to again', async () => {
    job = { ...job, state: 'failed', error: 'not a graph' };
    const { large } = made();
    await settle();
    expect([large.isRunning, large.trouble?.message]).toEqual([false, 'not a graph']);
    job = { ...job, state: 'done', error: undefined };
    large.make('one', ASK, () => undefined);
    await settle();
    expect([large.trouble, large.of('one')]).toEqual([null, DRAWING]);
  });
});
