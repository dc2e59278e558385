// The live stream: how events are read, and one stream for all tabs.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newsOf, type StreamNews } from './stream.news';
import { FakeBrowser } from './testing/browser';
import { FakeServer } from './testing/server';

describe('an event of the stream', () => {
  it('is a version and the server process it is of', () => {
    expect(newsOf('{"version": 7, "instance": "ab"}')).toEqual({ version: 7, instance: 'ab' });
    expect(newsOf('{"version": 7}')).toEqual({ version: 7, instance: undefined });
    expect(newsOf('7')).toEqual({ version: 7 });
  });
  it('that is anything else is no news', () => {
    for (const text of ['', '{', 'null', '"7"', '[]', '{"version": "7"}']) expect(newsOf(text)).toEqual({});
  });
});

describe('the stream that all tabs share', () => {
  let server: FakeServer;
  let browser: FakeBrowser;
  let connect: (e: { ports: FakePort[] }) => void;
  class FakePort {
    got: StreamNews[] = [];
    onmessage: ((e: { data: unknown }) => void) | null = null;
    start(): void {}
    postMessage(news: StreamNews): void {
      this.got.push(news);
    }
  }
  const tab = () => {
    const port = new FakePort();
    connect({ ports: [port] });
    port.onmessage?.({ data: { url: 'http://page.test/api/v1/events' } });
    return port;
  };
  beforeEach(async () => {
    vi.useFakeTimers();
    vi.resetModules();
    server = new FakeServer();
    browser = new FakeBrowser(server);
    const self = { onconnect: connect };
    vi.stubGlobal('self', self);
    await import('./stream.shared');
    connect = self.onconnect;
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('is one connection, and every tab hears of it', async () => {
    const [a, b] = [tab(), tab()];
    await vi.advanceTimersByTimeAsync(10);
    expect(browser.sources.size).toBe(1);
    server.log('r1', 'loss');
    for (const port of [a, b]) expect(port.got.at(-1)).toEqual({ version: 2, instance: server.instance });
    // late, and told alone; also what is newest, since a page that is being loaded may hold something older
    expect(tab().got).toEqual([{ open: true, version: 2, instance: server.instance }]);
  });
  it('is closed when the last tab goes', async () => {
    const [a, b] = [tab(), tab()];
    await vi.advanceTimersByTimeAsync(10);
    a.onmessage?.({ data: { bye: true } });
    expect(browser.sources.size).toBe(1);
    b.onmessage?.({ data: { bye: true } });
    expect(browser.sources.size).toBe(0);
  });
  it('is opened again after a refusal', async () => {
    const port = tab();
    await vi.advanceTimersByTimeAsync(10);
    for (const source of browser.sources) source.refuse();
    expect(port.got.at(-1)).toEqual({ open: false });
    await vi.advanceTimersByTimeAsync(1000);
    expect(port.got.at(-1)).toMatchObject({ version: 1 });
  });
});
