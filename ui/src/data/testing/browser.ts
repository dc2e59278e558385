// The parts of a browser that the data layer uses, for unit tests in Node: fetch and EventSource that lead to a
// FakeServer, a document that can be hidden, and events of the window. Time is vitest's fake clock.
import { vi } from 'vitest';
import type { FakeServer } from './server';

class FakeEventSource {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSED = 2;
  readyState = 0;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  onmessage: ((e: { data: string }) => void) | null = null;
  constructor(
    readonly url: string,
    readonly browser: FakeBrowser,
  ) {
    browser.sources.add(this);
    setTimeout(() => this.connect(), 1);
  }
  connect(): void {
    if (this.readyState !== 0) return;
    if (this.browser.server.isDown) return this.lose();
    this.readyState = 1;
    this.onopen?.();
    this.push();
  }
  push(): void {
    const { version, instance } = this.browser.server;
    if (this.readyState === 1) this.onmessage?.({ data: JSON.stringify({ version, instance }) });
  }
  /** The connection broke: a browser tries again by itself. */
  lose(): void {
    if (this.readyState === 2) return;
    this.readyState = 0;
    this.onerror?.();
    setTimeout(() => this.connect(), 1000);
  }
  /** The server (or a proxy) answered with an error: a browser does not try again. */
  refuse(): void {
    this.readyState = 2;
    this.onerror?.();
  }
  close(): void {
    this.readyState = 2;
    this.browser.sources.delete(this);
  }
}

export class FakeBrowser {
  readonly sources = new Set<FakeEventSource>();
  readonly document = Object.assign(new EventTarget(), { baseURI: 'http://page.test/', hidden: false, scripts: [] });
  readonly window = new EventTarget();

  constructor(readonly server: FakeServer) {
    const opened = (url: string) => new FakeEventSource(url, this);
    vi.stubGlobal('fetch', (url: string, init?: RequestInit) => server.fetch(url, init));
    vi.stubGlobal(
      'EventSource',
      Object.assign(
        function (url: string) {
          return opened(url);
        },
        { CONNECTING: 0, OPEN: 1, CLOSED: 2 },
      ),
    );
    vi.stubGlobal('document', this.document);
    vi.stubGlobal('addEventListener', this.window.addEventListener.bind(this.window));
    vi.stubGlobal('removeEventListener', this.window.removeEventListener.bind(this.window));
    server.onPush = () => this.push();
  }

  push(): void {
    for (const source of [...this.sources]) source.push();
  }
  /** The server ends; `up` starts it again, and streams find it when they try. */
  down(): void {
    this.server.isDown = true;
    for (const source of [...this.sources]) source.lose();
  }
  up(): void {
    this.server.isDown = false;
  }
  setHidden(hidden: boolean): void {
    this.document.hidden = hidden;
    this.document.dispatchEvent(new Event('visibilitychange'));
  }
}
