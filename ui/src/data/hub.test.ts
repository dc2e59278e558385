// The hub against a server in memory: restarts, deleted runs, tags that begin later, failures, hidden pages.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeBrowser } from './testing/browser';
import { FakeServer } from './testing/server';
import type { Hub } from './hub.svelte';

let server: FakeServer;
let browser: FakeBrowser;
let hub: Hub;

const settle = (ms = 50) => vi.advanceTimersByTimeAsync(ms);
const names = () => hub.runs.map((run) => run.name).sort();
const runsOf = (tag: string) => {
  const runs = hub.tags.find((t) => t.tag === tag)?.runs;
  return runs === 'all' ? names() : (runs ?? []).map((id) => hub.run(id)?.name).sort();
};

beforeEach(async () => {
  vi.useFakeTimers();
  vi.resetModules();
  server = new FakeServer();
  browser = new FakeBrowser(server);
  server.log('r1', 'loss');
  server.log('r2', 'loss');
  server.log('r1', 'val');
  hub = new (await import('./hub.svelte')).Hub();
  const started = hub.start();
  await settle();
  await started;
});
afterEach(() => {
  hub.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('the hub', () => {
  it('starts with runs, tags and people’s state, and follows the stream', async () => {
    expect(hub.ready).toBe(true);
    expect(names()).toEqual(['r1', 'r2']);
    server.log('r3', 'loss');
    await settle(2000);
    expect(names()).toEqual(['r1', 'r2', 'r3']);
    expect(runsOf('loss')).toEqual(['r1', 'r2', 'r3']);
  });

  it('counts a log that begins while the page is being loaded, when the status is the first of the replies', async () => {
    hub.stop();
    server = new FakeServer();
    browser = new FakeBrowser(server);
    hub = new (await import('./hub.svelte')).Hub();
    const release = [server.hold('runs'), server.hold('tags')];
    void hub.start();
    await settle();
    server.log('r1', 'loss'); // the status said that there is nothing; runs and tags will have it
    for (const go of release) go();
    await settle(3000);
    expect(names()).toEqual(['r1']);
    expect(runsOf('loss')).toEqual(['r1']);
    expect(hub.status?.plugins).toEqual({ scalars: 1 });
  });

  it('asks for what the stream told of while everything was being loaded', async () => {
    const release = ['status', 'runs', 'tags'].map((path) => server.hold(path, true));
    const loading = hub.reload();
    await settle();
    server.log('r3', 'loss'); // newer than the replies that are under way
    await settle();
    for (const go of release) go();
    await loading;
    await settle(3000);
    expect(names()).toEqual(['r1', 'r2', 'r3']);
    expect(runsOf('loss')).toEqual(['r1', 'r2', 'r3']);
  });

  it('keeps the newer list of tags when the reply with an older one is late', async () => {
    await settle(2000);
    const release = server.hold('tags', true, 1);
    server.log('r3', 'first');
    await settle(1500); // tags are asked for, and their reply is late
    server.log('r4', 'second');
    await settle(1500);
    release();
    await settle(100);
    server.log('r1', 'first'); // of a known run and a known tag: nothing is asked for
    await settle(5000);
    expect(runsOf('second')).toEqual(['r4']);
    expect(runsOf('first')).toEqual(['r1', 'r3']);
    expect(hub.status?.plugins).toEqual({ scalars: 4 });
  });

  it('drops what it holds when another server process answers, though its version is higher', async () => {
    server.people = { 'run/r1': { name: 'old' } };
    browser.down();
    await settle(100);
    expect(hub.connection).toBe('lost');
    server.restart();
    server.people = {};
    for (let i = 0; i < 40; i++) server.log('r9', 'loss'); // id 1, which was r1
    browser.up();
    await settle(3000);
    expect(names()).toEqual(['r9']);
    expect(hub.run(1)?.name).toBe('r9');
    expect(runsOf('loss')).toEqual(['r9']);
    expect(hub.tags.map((tag) => tag.tag)).toEqual(['loss']);
    expect(hub.people).toEqual({});
  });

  it('notices another server process also where the stream never broke', async () => {
    server.restart();
    for (let i = 0; i < 40; i++) server.log('r9', 'loss');
    await settle(1000);
    expect(names()).toEqual(['r9']);
  });

  it('adds a known run to a known tag when it begins to log it', async () => {
    expect(runsOf('val')).toEqual(['r1']);
    server.forget();
    server.log('r2', 'val');
    await settle();
    expect(runsOf('val')).toEqual(['r1', 'r2']);
    expect(server.count('tags')).toBe(0);
  });

  it('takes deleted runs out of the list and out of tags', async () => {
    server.log('r3', 'loss');
    await settle(2000);
    server.remove('r1');
    await settle();
    expect(names()).toEqual(['r2', 'r3']);
    expect(runsOf('loss')).toEqual(['r2', 'r3']);
    expect(hub.run(1)).toBeUndefined();
    expect(hub.tags.some((tag) => tag.tag === 'val')).toBe(false);
  });

  it('loads all anew when the server no longer remembers what is gone', async () => {
    server.remove('r1');
    server.remembersFrom = server.version;
    await settle(2000);
    expect(names()).toEqual(['r2']);
  });

  it('asks for changes again after a refusal, not before Retry-After', async () => {
    server.fail('changes', 503, { retryAfter: 4 });
    server.log('r3', 'loss');
    await settle(3900);
    expect(names()).toEqual(['r1', 'r2']);
    await settle(1000);
    expect(names()).toEqual(['r1', 'r2', 'r3']);
  });

  it('tries tags again when they could not be had', async () => {
    server.fail('tags', 503);
    server.log('r3', 'fresh');
    await settle(5000);
    expect(runsOf('fresh')).toEqual(['r3']);
  });

  it('of a hidden page asks nothing, and catches up when it is shown', async () => {
    browser.setHidden(true);
    server.forget();
    server.log('r3', 'loss');
    await settle(60_000);
    expect(server.requests).toEqual([]);
    browser.setHidden(false);
    await settle(1500);
    expect(names()).toEqual(['r1', 'r2', 'r3']);
  });

  it('makes one request for one change', async () => {
    await settle(2000);
    server.forget();
    server.log('r2', 'loss');
    await settle(2000);
    expect(server.requests.map((r) => r.split('?')[0])).toEqual(['GET changes']);
  });

  it('finds news by polling every second where a proxy holds the stream back', async () => {
    server.onPush = () => {};
    server.log('r3', 'loss');
    await settle(20_000); // the stream is silent for long: the page asks, and sees that it missed something
    expect(names()).toEqual(['r1', 'r2', 'r3']);
    server.log('r4', 'loss');
    await settle(2500);
    expect(names()).toEqual(['r1', 'r2', 'r3', 'r4']);
  });

  it('of a paused page changes nothing until the pause ends, but for another server process', async () => {
    hub.pause(true);
    server.log('r3', 'loss');
    await settle(20_000);
    expect(names()).toEqual(['r1', 'r2']);
    hub.pause(false);
    await settle(100);
    expect(names()).toEqual(['r1', 'r2', 'r3']);
    hub.pause(true);
    server.restart();
    server.log('r9', 'loss');
    await settle(1000);
    expect(names()).toEqual(['r9']);
  });

  it('opens the stream again after it was refused', async () => {
    for (const source of browser.sources) source.refuse();
    await settle(5000);
    expect([...browser.sources].some((s) => s.readyState === 1)).toBe(true);
  });

  it('knows a page from before an upgrade', async () => {
    browser.document.scripts = [{ src: 'http://page.test/assets/first-abc.js' }] as never;
    server.restart();
    server.log('r9', 'loss');
    await settle(1000);
    expect(hub.isOutdated).toBe(false);
    server.page = '<script src="./assets/first-def.js"></script>';
    server.restart();
    server.log('r9', 'loss');
    await settle(1000);
    expect(hub.isOutdated).toBe(true);
  });

  it('asks for the page once when many parts of it fail at once', async () => {
    server.forget();
    await Promise.all([1, 2, 3].map(() => hub.checkPage()));
    expect(server.requests).toEqual(['GET /']);
  });

  it('knows a page of another version of the program', async () => {
    server.program = '0.2.0';
    server.restart();
    server.log('r9', 'loss');
    await settle(1000);
    expect(hub.isOutdated).toBe(true);
  });

  it('tries again to keep what people change while there is no server, and tells so meanwhile', async () => {
    browser.down();
    await settle(100);
    const kept = hub.remember({ 'run/r1': { name: 'best' } });
    const later = hub.remember({ 'run/r2': { name: 'worst' } });
    await settle(5000);
    expect(hub.unkept?.code).toBe('offline');
    expect(hub.people['run/r1']).toEqual({ name: 'best' });
    expect(server.people).toEqual({});
    browser.up();
    await settle(3000);
    expect(await Promise.all([kept, later])).toEqual([true, true]);
    expect(server.people).toEqual({ 'run/r1': { name: 'best' }, 'run/r2': { name: 'worst' } });
    expect(hub.people).toEqual(server.people);
    expect(hub.unkept).toBe(null);
  });

  it('gives up a change that the server refuses for good, and waits as long as a busy one asks for', async () => {
    server.fail('state', 413);
    expect(await hub.remember({ 'run/r1': { note: 'too long' } })).toBe(false);
    expect(hub.unkept).toBe(null);
    server.fail('state', 503, { retryAfter: 4 });
    const kept = hub.remember({ 'run/r1': { note: 'short' } });
    await settle(3900);
    expect(hub.unkept?.code).toBe('busy');
    expect(server.people).toEqual({});
    await settle(1000);
    expect(await kept).toBe(true);
    expect(server.people).toEqual({ 'run/r1': { note: 'short' } });
  });
});
