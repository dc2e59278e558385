// LiveQuery against a server in memory: what is shared, asked again, tried again, cancelled and kept.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Hub } from '../hub.svelte';
import { FakeBrowser } from '../testing/browser';
import { FakeServer } from '../testing/server';
import type { SummariesAsk } from '../types';
import type { LiveQuery as LiveQueryClass } from './live.svelte';
import type { Points, SeriesRef } from './scalars';

let server: FakeServer;
let browser: FakeBrowser;
let hub: Hub;
let LiveQuery: typeof LiveQueryClass;
let scalars: typeof import('./scalars');
let summaries: typeof import('./summaries');
let queries: typeof import('./queries.svelte');

const settle = (ms = 50) => vi.advanceTimersByTimeAsync(ms);
const ASK = { x: 'step', width: 400, smoothing: { kind: 'none' } } as const;
const question = (...series: SeriesRef[]) => scalars.scalarsQuestion(ASK, series);
const loss = (run: number) => ({ run, tag: 'loss' });
const valuesOf = (points: Points | undefined) => [...(points?.series ?? [])].map(([, s]) => s.value?.[0]);
const asked = () => server.count('scalars');
const seriesAsked = (at: number) => (server.bodies.at(at)?.body as { series: unknown[] }).series;

beforeEach(async () => {
  vi.useFakeTimers();
  vi.resetModules();
  server = new FakeServer();
  browser = new FakeBrowser(server);
  server.log('r1', 'loss', 3);
  server.log('r2', 'loss', 3);
  server.log('r3', 'loss', 3);
  server.log('r1', 'other', 2);
  server.log('r1', 'loss', 5, 'images');
  ({ LiveQuery } = await import('./live.svelte'));
  scalars = await import('./scalars');
  summaries = await import('./summaries');
  queries = await import('./queries.svelte');
  ({ hub } = await import('../hub.svelte'));
  const started = hub.start();
  await settle();
  await started;
  server.forget();
});
afterEach(() => {
  hub.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('a live query', () => {
  it('answers, and is asked again when a series it depends on grows', async () => {
    const query = new LiveQuery<Points>();
    query.ask(question(loss(1), loss(2)));
    await settle();
    expect(valuesOf(query.answer)).toEqual([1, 2]);
    server.log('r2', 'loss');
    await settle(400);
    expect(query.answer?.series.get('2\nloss')?.points).toBe(4);
    expect(asked()).toBe(2);
    query.close();
  });

  it('asks only for the series that grew, and sends what is held of it', async () => {
    const query = new LiveQuery<Points>();
    query.ask(question(loss(1), loss(2), loss(3)));
    await settle();
    server.log('r2', 'loss');
    await settle(400);
    expect(seriesAsked(-1)).toEqual([{ run: 2, tag: 'loss', epoch: 1, n: 3 }]);
    expect(valuesOf(query.answer)).toEqual([1, 2, 3]);
    query.close();
  });

  it('asks nothing while other tags, other runs or other plugins grow', async () => {
    const query = new LiveQuery<Points>();
    query.ask(question(loss(1), loss(2)));
    await settle();
    server.forget();
    for (let i = 0; i < 50; i++) {
      server.log('r1', 'other');
      server.log('r3', 'loss');
      server.log('r1', 'loss', 1, 'images');
      await settle(100);
    }
    expect(asked()).toBe(0);
    query.close();
  });

  it('is asked at most every 200 ms, and never twice at once', async () => {
    const query = new LiveQuery<Points>();
    query.ask(question(loss(1)));
    await settle();
    server.forget();
    for (let i = 0; i < 40; i++) {
      server.log('r1', 'loss');
      await settle(50);
    }
    expect(asked()).toBeLessThanOrEqual(11);
    expect(asked()).toBeGreaterThan(5);
    await settle(300);
    server.forget();
    const release = server.hold('scalars');
    for (let i = 0; i < 40; i++) {
      server.log('r1', 'loss');
      await settle(50);
    }
    expect(asked()).toBe(1);
    release();
    await settle(500);
    expect(query.answer?.series.get('1\nloss')?.points).toBe(83);
    query.close();
  });

  it('shares one request with all who ask the same', async () => {
    const [a, b] = [new LiveQuery<Points>(), new LiveQuery<Points>()];
    a.ask(question(loss(1)));
    b.ask(question(loss(1)));
    await settle();
    expect(asked()).toBe(1);
    expect(b.answer).toBe(a.answer);
    server.log('r1', 'loss');
    await settle(400);
    expect(asked()).toBe(2);
    expect(b.answer?.series.get('1\nloss')?.points).toBe(4);
    a.close();
    server.log('r1', 'loss');
    await settle(400);
    expect(b.answer?.series.get('1\nloss')?.points).toBe(5);
    b.close();
  });

  it('starts from the answer before when only its runs change', async () => {
    const query = new LiveQuery<Points>();
    query.ask(question(loss(1), loss(2)));
    await settle();
    query.ask(question(loss(1), loss(2), loss(3)));
    await settle();
    expect(seriesAsked(-1)).toEqual([{ run: 3, tag: 'loss' }]);
    query.ask(question(loss(3), loss(1)));
    await settle();
    expect(asked()).toBe(2); // all is here already
    expect(valuesOf(query.answer)).toEqual([3, 1]);
    query.close();
  });

  it('keeps the answer before until the new one is here, and cancels what is no longer wanted', async () => {
    const query = new LiveQuery<Points>();
    query.ask(question(loss(1)));
    await settle();
    const release = server.hold('scalars');
    query.ask(scalars.scalarsQuestion({ ...ASK, range: [0, 1] }, [loss(1)]));
    await settle();
    expect(query.answer?.range).toBeUndefined();
    query.ask(scalars.scalarsQuestion({ ...ASK, range: [1, 2] }, [loss(1)]));
    await settle();
    expect(server.aborted).toEqual(['scalars']);
    release();
    await settle();
    expect(query.answer?.range).toEqual([1, 2]);
    query.close();
  });

  it('of a slider asks when it rests, not at every place', async () => {
    const query = new LiveQuery<Points>();
    query.ask(question(loss(1)));
    await settle();
    for (let i = 1; i <= 20; i++) {
      query.ask(scalars.scalarsQuestion({ ...ASK, smoothing: { kind: 'ema', weight: i / 30 } }, [loss(1)]));
      await settle(10);
    }
    await settle();
    expect(asked()).toBe(2);
    query.close();
  });

  it('tells a failure and tries again by itself, not before Retry-After', async () => {
    const query = new LiveQuery<Points>();
    server.fail('scalars', 503, { retryAfter: 3 });
    query.ask(question(loss(1)));
    await settle();
    expect(query.trouble?.message).toBe('fails: scalars');
    await settle(2900);
    expect(asked()).toBe(1);
    await settle(1000);
    expect(asked()).toBe(2);
    expect(query.trouble).toBeNull();
    expect(valuesOf(query.answer)).toEqual([1]);
    query.close();
  });

  it('backs off while it fails', async () => {
    const query = new LiveQuery<Points>();
    server.fail('scalars', 500, { times: 100 });
    query.ask(question(loss(1)));
    await settle(60_000);
    expect(asked()).toBeGreaterThan(4);
    expect(asked()).toBeLessThan(14);
    query.close();
  });

  it('keeps the old lines of a zoom that was refused, says so, and has the new ones later', async () => {
    const query = new LiveQuery<Points>();
    query.ask(question(loss(1)));
    await settle();
    server.fail('scalars', 503, { retryAfter: 1 });
    query.ask(scalars.scalarsQuestion({ ...ASK, range: [0, 1] }, [loss(1)]));
    await settle();
    expect(query.answer?.range).toBeUndefined();
    expect(query.trouble?.code).toBe('busy');
    await settle(2000);
    expect(query.answer?.range).toEqual([0, 1]);
    expect(query.trouble).toBeNull();
    query.close();
  });

  it('that the server refuses for good is asked again by a person, or when its data changes', async () => {
    const query = new LiveQuery<Points>();
    server.fail('scalars', 400, { times: 2 });
    query.ask(question(loss(1)));
    await settle(60_000);
    expect(asked()).toBe(1);
    expect(query.trouble?.retryAt).toBeNull();
    query.tryNow();
    await settle();
    expect(asked()).toBe(2);
    server.log('r1', 'loss');
    await settle(400);
    expect(query.trouble).toBeNull();
    query.close();
  });

  it('is asked at once when the connection comes back', async () => {
    browser.down();
    const query = new LiveQuery<Points>();
    query.ask(question(loss(1)));
    await settle(20_000);
    expect(query.trouble?.code).toBe('offline');
    server.forget();
    browser.up();
    await settle(1100); // the stream finds it
    expect(query.trouble).toBeNull();
    expect(valuesOf(query.answer)).toEqual([1]);
    query.close();
  });

  it('of a hidden page is not asked, and catches up when the page is shown', async () => {
    const query = new LiveQuery<Points>();
    query.ask(question(loss(1)));
    await settle();
    browser.setHidden(true);
    server.forget();
    server.log('r1', 'loss');
    await settle(60_000);
    expect(server.requests).toEqual([]);
    browser.setHidden(false);
    await settle(400);
    expect(query.answer?.series.get('1\nloss')?.points).toBe(4);
    query.close();
  });

  it('forgets its answer when another server process begins, and never shows one run under another’s name', async () => {
    const query = new LiveQuery<Points>();
    query.ask(question(loss(1)));
    await settle();
    server.restart();
    server.log('r7', 'loss', 3); // id 1, with as many points
    await settle(1000);
    expect(query.answer).toBeUndefined();
    query.ask(question(loss(1)));
    await settle();
    expect(valuesOf(query.answer)).toEqual([7]);
    query.close();
  });

  it('refuses a reply of another server process before the hub has heard of it', async () => {
    const query = new LiveQuery<Points>();
    query.ask(question(loss(1)));
    await settle();
    server.onPush = () => {};
    server.restart();
    server.log('r7', 'loss', 3);
    query.ask(scalars.scalarsQuestion({ ...ASK, range: [0, 1] }, [loss(1)]));
    await settle();
    expect(valuesOf(query.answer)).toEqual([]);
    await settle(1000);
    expect(hub.run(1)?.name).toBe('r7');
    query.close();
  });

  it('comes back into sight with its answer, and asks only if it is out of date', async () => {
    const first = new LiveQuery<Points>();
    first.ask(question(loss(1)));
    await settle();
    first.close();
    const second = new LiveQuery<Points>();
    second.ask(question(loss(1)));
    expect(valuesOf(second.answer)).toEqual([1]);
    await settle(500);
    expect(asked()).toBe(1);
    second.close();
    server.log('r1', 'loss');
    await settle(500);
    expect(asked()).toBe(1);
    const third = new LiveQuery<Points>();
    third.ask(question(loss(1)));
    expect(valuesOf(third.answer)).toEqual([1]);
    await settle(500);
    expect(asked()).toBe(2);
    third.close();
  });

  it('asks for the summaries of the runs that grew only', async () => {
    const query = new LiveQuery<import('./summaries').Cells>();
    query.ask(summaries.summariesQuestion(['loss', 'other'], () => 3));
    await settle();
    expect(query.answer?.get('loss')?.get(3)?.n).toBe(3);
    server.log('r3', 'loss');
    await settle(2000);
    expect(query.answer?.get('loss')?.get(3)?.n).toBe(4);
    expect(query.answer?.get('loss')?.get(1)?.n).toBe(3);
    expect((server.bodies.at(-1)?.body as SummariesAsk).runs).toEqual([3]);
    query.close();
  });
});

describe('an answer that comes in parts', () => {
  it('is asked on until it is whole, at once, and is shown whole', async () => {
    const parts = (whole: number): import('./question').Question<number> => ({
      key: 'parts',
      depends: { plugin: 'scalars', tags: ['loss'], runs: new Set([1]) },
      asks: (held) => [{ path: 'status', body: { have: held ?? 0 }, as: 'json' }],
      take: (_, held) => ({ ok: true, value: Math.min(whole, (held ?? 0) + 2) }),
      rest: (answer) => new Set(answer < whole ? [1] : []),
      sizeOf: () => 8,
    });
    const query = new LiveQuery<number>();
    const seen: unknown[] = [];
    const changed = query.changed.bind(query);
    query.changed = () => {
      changed();
      seen.push(query.answer);
    };
    query.ask(parts(5));
    await settle(20); // much less than from one question to the next
    expect(seen.filter((answer) => answer !== undefined)).toEqual([5]);
    expect(server.bodies.map(({ body }) => body)).toEqual([{ have: 0 }, { have: 2 }, { have: 4 }]);
    await settle(1000);
    expect(server.bodies.length).toBe(3);
    query.close();
  });
});

describe('a question in the background', () => {
  it('lets those in sight go first', async () => {
    const cells = new LiveQuery<import('./summaries').Cells>(2);
    cells.ask(
      summaries.summariesQuestion(['loss'], () => 3),
      150,
    );
    const points = new LiveQuery<Points>();
    points.ask(question(loss(1)));
    await settle(100);
    expect(server.requests).toEqual(['POST scalars']);
    await settle(100);
    expect(server.requests).toEqual(['POST scalars', 'POST summaries']);
    cells.close();
    points.close();
  });
});

describe('a page that opens before anything was read', () => {
  it('misses no growth: changes since version 0 list no series, so everything is asked again', async () => {
    hub.stop();
    vi.resetModules();
    server.restart();
    server.version = 0;
    ({ LiveQuery } = await import('./live.svelte'));
    scalars = await import('./scalars');
    ({ hub } = await import('../hub.svelte'));
    const release = [server.hold('runs'), server.hold('tags')];
    const started = hub.start();
    await settle(); // the status is of version 0
    server.log('r1', 'loss');
    server.onPush = () => {};
    release.forEach((go) => go());
    const query = new LiveQuery<Points>();
    await settle(0);
    query.ask(question(loss(1)));
    await started;
    await settle(0);
    expect(query.answer?.series.get('1\nloss')?.points).toBe(1);
    server.log('r1', 'loss');
    browser.push();
    await settle(1000);
    expect(query.answer?.series.get('1\nloss')?.points).toBe(2);
    query.close();
  });
});

describe('answers that nobody watches', () => {
  it('go, the least recently used first, when there are too many bytes', async () => {
    const store = new queries.Queries(3 * 1600);
    store.resume(server.instance);
    const watcher = () => ({ priority: 0 as const, changed: () => {}, dropped: () => {} });
    const sized = (key: string) => ({
      key,
      depends: null,
      asks: () => [{ path: 'status', as: 'json' as const }],
      take: () => ({ ok: true as const, value: key }),
      sizeOf: () => 1000,
    });
    const seen = async (key: string) => {
      const w = watcher();
      const entry = store.watch(sized(key), w);
      await settle();
      store.unwatch(entry, w);
    };
    for (const key of ['a', 'b', 'c']) await seen(key);
    await seen('a'); // used again
    server.forget();
    await seen('d'); // b goes
    expect(server.count('status')).toBe(1);
    for (const key of ['a', 'c', 'd']) await seen(key);
    expect(server.count('status')).toBe(1);
    await seen('b');
    expect(server.count('status')).toBe(2);
  });
});
