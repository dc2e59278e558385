// Which runs have data in files, against a server in memory.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeBrowser } from '../../data/testing/browser';
import { FakeServer } from '../../data/testing/server';
import type { Hub } from '../../data/hub.svelte';
import { DASHBOARDS } from '../../dashboards';

const PATH = '/data/plugin/projector/runs';
const dashboard = DASHBOARDS.filter((d) => d.inFiles)[0];
const settle = (ms = 50) => vi.advanceTimersByTimeAsync(ms);

let server: FakeServer;
let hub: Hub;
let inFiles: (typeof import('./infiles.svelte'))['inFiles'];

beforeEach(async () => {
  vi.useFakeTimers();
  vi.resetModules();
  server = new FakeServer();
  new FakeBrowser(server);
  server.log('r1', 'loss');
  server.inFiles = ['r1'];
  hub = (await import('../../data/hub.svelte')).hub;
  ({ inFiles } = await import('./infiles.svelte'));
  const started = hub.start();
  await settle();
  await started;
});
afterEach(() => {
  hub.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('runs with data in files', () => {
  it('are asked for when somebody looks, and again when the logs grew, but not when nobody looks any more', async () => {
    expect(server.count(PATH)).toBe(0);
    const stop = inFiles.look(DASHBOARDS);
    await settle(100);
    expect(inFiles.runsOf(dashboard)).toEqual(['r1']);
    await settle(60_000);
    expect(server.count(PATH)).toBe(1);
    server.log('r2', 'loss');
    server.inFiles = ['r1', 'r2'];
    await settle(10_000);
    expect(inFiles.runsOf(dashboard)).toEqual(['r1', 'r2']);
    stop();
    server.log('r3', 'loss');
    await settle(60_000);
    expect(server.count(PATH)).toBe(2);
  });

  it('are asked for again by itself after a failure', async () => {
    server.fail(PATH, 503);
    const stop = inFiles.look([dashboard]);
    await settle(100);
    expect(inFiles.runsOf(dashboard)).toEqual([]);
    await settle(30_000);
    expect(inFiles.runsOf(dashboard)).toEqual(['r1']);
    stop();
  });

  it('are kept up to date until the last of those who look is gone', async () => {
    const [first, second] = [inFiles.look([dashboard]), inFiles.look(DASHBOARDS)];
    await settle(100);
    second();
    server.log('r2', 'loss');
    server.inFiles = ['r2'];
    await settle(10_000);
    expect(inFiles.runsOf(dashboard)).toEqual(['r2']);
    first();
  });

  it('are those of the server process that answers now', async () => {
    const stop = inFiles.look([dashboard]);
    await settle(100);
    expect(inFiles.runsOf(dashboard)).toEqual(['r1']);
    stop();
    server.restart();
    server.inFiles = ['r2'];
    server.log('r2', 'loss');
    await settle(1000);
    expect(inFiles.runsOf(dashboard)).toEqual([]);
    inFiles.look([dashboard]);
    await settle(100);
    expect(inFiles.runsOf(dashboard)).toEqual(['r2']);
  });
});
