// Requests through the worker and without one, and what a failed request says.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ToWorker } from './fetch.worker';
import { FakeBrowser } from './testing/browser';
import { FakeServer } from './testing/server';

const url = (path: string) => `http://page.test/api/v1/${path}`;
let server: FakeServer;

beforeEach(() => {
  vi.resetModules();
  server = new FakeServer();
  new FakeBrowser(server);
  server.log('r1', 'loss', 3);
});
afterEach(() => vi.unstubAllGlobals());

describe('one request', () => {
  const once = async (path: string, extra = {}) =>
    (await import('./fetch.once')).fetchOnce({ url: url(path), as: 'json', ...extra });
  const problem = async (path: string, extra = {}) => {
    const result = await once(path, extra);
    return result.ok ? null : result.error;
  };

  it('is a GET without a body and a POST with one', async () => {
    await once('status');
    await once('summaries', { body: '{"tags":["loss"]}' });
    expect(server.requests).toEqual(['GET status', 'POST summaries']);
  });
  it('that fails says whether a later try may succeed, and how long the server asks to wait', async () => {
    server.fail('status', 503, { retryAfter: 3 });
    expect(await problem('status')).toEqual({
      code: 'busy',
      message: 'fails: status',
      isTemporary: true,
      retryAfter: 3000,
    });
    server.fail('status', 400);
    expect(await problem('status')).toMatchObject({ code: '400', isTemporary: false, retryAfter: undefined });
    server.isDown = true;
    expect(await problem('status')).toMatchObject({ code: 'offline', isTemporary: true });
  });
  it('that is answered with something else than JSON fails', async () => {
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('<html>502</html>', { status: 502, statusText: 'Bad' })));
    expect(await problem('status')).toMatchObject({ code: '502', message: 'Bad', isTemporary: true });
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('<html>')));
    expect(await problem('status')).toMatchObject({ code: 'offline' });
  });
  it('refuses the reply of another server process', async () => {
    expect(await problem('status', { instance: server.instance })).toBeNull();
    expect(await problem('status', { instance: 'of before' })).toMatchObject({ code: 'instance' });
  });
});

describe('requests without a worker', () => {
  it('are made by the page, and can be cancelled', async () => {
    const { fetchQueued } = await import('./fetcher');
    const ask = (path: string) => fetchQueued({ url: url(path), as: 'json' }, 0);
    expect((await ask('status').result).ok).toBe(true);
    server.hold('runs');
    const request = ask('runs');
    request.cancel();
    expect(await request.result).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect(server.aborted).toEqual(['runs']);
  });
});

describe('requests through the worker', () => {
  let posted: ToWorker[];
  let worker: { onmessage?: (e: { data: unknown }) => void; onerror?: () => void };
  beforeEach(() => {
    posted = [];
    vi.stubGlobal(
      'Worker',
      class {
        constructor() {
          worker = this as typeof worker;
        }
        postMessage(message: ToWorker): void {
          posted.push(message);
        }
      },
    );
  });

  /** The worker is there and has said so. */
  const begun = async () => {
    const fetcher = await import('./fetcher');
    fetcher.warmUp();
    worker.onmessage?.({ data: { hasBegun: true } });
    return fetcher;
  };

  it('are made by the page until the worker has begun: the first answer does not wait for it', async () => {
    const { fetchQueued } = await import('./fetcher');
    const first = fetchQueued({ url: url('status'), as: 'json' }, 0);
    worker.onmessage?.({ data: { hasBegun: true } });
    first.move(1); // stays with the page
    expect((await first.result).ok).toBe(true);
    expect(posted).toEqual([]);
    void fetchQueued({ url: url('runs'), as: 'json' }, 0);
    expect(posted).toHaveLength(1);
    expect(server.requests).toEqual(['GET status']);
  });
  it('carry their priority, can change it, and are answered once', async () => {
    const { fetchQueued } = await begun();
    const ask = { url: url('status'), as: 'json' as const };
    const request = fetchQueued(ask, 1);
    request.move(0);
    const id = posted[0].id;
    expect(posted).toEqual([
      { id, ask, priority: 1 },
      { id, priority: 0 },
    ]);
    worker.onmessage?.({ data: { id, result: { ok: true, value: 7 } } });
    expect(await request.result).toEqual({ ok: true, value: 7 });
    request.cancel(); // too late: says nothing
    expect(posted).toHaveLength(2);
  });
  it('that are cancelled end at once', async () => {
    const { fetchQueued } = await begun();
    const request = fetchQueued({ url: url('status'), as: 'json' }, 0);
    request.cancel();
    expect(posted.at(-1)).toEqual({ id: posted[0].id, cancel: true });
    expect(await request.result).toMatchObject({ ok: false, error: { code: 'cancelled' } });
  });
  it('fail for a moment when the worker ends; from then on the page makes them', async () => {
    const { fetchQueued } = await begun();
    const lost = fetchQueued({ url: url('status'), as: 'json' }, 0);
    worker.onerror?.();
    expect(await lost.result).toMatchObject({ ok: false, error: { isTemporary: true } });
    expect((await fetchQueued({ url: url('status'), as: 'json' }, 0).result).ok).toBe(true);
    expect(server.requests).toEqual(['GET status']);
  });
});
