// A large graph is read by a job that says how far it is; who leaves cancels it; a small one is not waited for.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Opening as OpeningClass, Wanted } from './opening.svelte';

vi.mock('../../public', async () => ({
  ...(await import('../../data/api')),
  ...(await import('../../base/result')),
}));
let Opening: typeof OpeningClass;
let asked: string[];
let job: { id: number; state: string; done: number; total: number; error?: string };
const SOURCE = { graph: { run: 1, tag: '__run_graph__' } };
const wanted = (bytes: number): Wanted => ({ key: `one ${bytes}`, source: SOURCE, bytes });
const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

beforeEach(async () => {
  vi.useFakeTimers();
  asked = [];
  vi.stubGlobal('document', { baseURI: 'http://here/' });
  job = { id: 7, state: 'waiting', done: 0, total: 0 };
  vi.stubGlobal('fetch', (url: string, init?: RequestInit) => {
    asked.push(`${init?.method ?? 'GET'} ${url.slice(url.indexOf('/v1/') + 4)}`);
    return Promise.resolve(new Response(JSON.stringify({ version: 1, job }), { status: 200 }));
  });
  ({ Opening } = await import('./opening.svelte'));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function following(bytes: number) {
  const opening = new Opening(() => wanted(bytes));
  return { opening, end: opening.open(wanted(bytes)) };
}

describe('opening a graph', () => {
  it('asks for nothing when the graph is small', async () => {
    const { opening, end } = following(1000);
    await settle(1000);
    expect(opening.isOpen).toBe(true);
    expect(asked).toEqual([]);
    end();
  });
  it('follows the job of a large one until it is done', async () => {
    const { opening, end } = following(5e7);
    await settle();
    expect(opening.isOpen).toBe(false);
    job = { ...job, state: 'running', done: 300, total: 1000 };
    await settle(200);
    expect(opening.share).toBe(0.3);
    job = { ...job, state: 'done' };
    await settle(200);
    expect(opening.isOpen).toBe(true);
    expect(asked[0]).toBe('POST jobs');
    end();
    await settle(1000);
    expect(asked.some((one) => one.startsWith('DELETE'))).toBe(false);
  });
  it('cancels the job when nobody waits for it any more', async () => {
    const { end } = following(5e7);
    await settle();
    end();
    await settle(1000);
    expect(asked.at(-1)).toBe('DELETE job?id=7');
  });
  it('says why it could not be read, and reads it when it is asked to again', async () => {
    job = { ...job, state: 'failed', error: 'not a graph' };
    const { opening } = following(5e7);
    await settle();
    expect(opening.trouble?.message).toBe('not a graph');
    job = { ...job, state: 'done', error: undefined };
    opening.open(wanted(5e7));
    await settle();
    expect(opening.trouble).toBe(null);
    expect(opening.isOpen).toBe(true);
  });
});
