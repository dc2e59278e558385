// News from the server: through one stream that all tabs share, else through one of our own, else by asking every
// second (proxies that hold streams back). Tells of versions only; what is new is asked for by whoever needs it.
import { versionOf, type StreamNews } from './stream.news';

const QUIET_MS = 15000;
const POLL_MS = 1000;

export class Live {
  private port: MessagePort | null = null;
  private own: EventSource | null = null;
  private timer: ReturnType<typeof setInterval> | undefined;
  private heard = 0;
  private open = false;
  private held = false;

  constructor(
    private readonly url: string,
    /** a version, or undefined: ask and see */
    private readonly onNews: (version: number | undefined) => void,
    private readonly onOpen: (open: boolean) => void,
  ) {}

  start(): void {
    this.heard = Date.now();
    try {
      const shared = new SharedWorker(new URL('./stream.shared.ts', import.meta.url), {
        type: 'module',
        name: this.url,
      });
      shared.onerror = () => this.startOwn();
      this.port = shared.port;
      this.port.onmessage = (e: MessageEvent<StreamNews>) => this.take(e.data);
      this.port.start();
      this.port.postMessage({ url: this.url });
      addEventListener('pagehide', () => this.port?.postMessage({ bye: true }));
      addEventListener(
        'pageshow',
        (e) => (e as PageTransitionEvent).persisted && this.port?.postMessage({ url: this.url }),
      );
    } catch {
      this.startOwn();
    }
    this.timer = setInterval(() => this.tick(), POLL_MS);
  }

  stop(): void {
    clearInterval(this.timer);
    this.port?.postMessage({ bye: true });
    this.own?.close();
  }

  private startOwn(): void {
    this.port = null;
    if (this.own) return;
    this.own = new EventSource(this.url);
    this.own.onopen = () => this.take({ open: true });
    this.own.onerror = () => this.take({ open: false });
    this.own.onmessage = (e) => this.take({ version: versionOf(String(e.data)) });
  }

  private take(news: StreamNews): void {
    this.heard = Date.now();
    if (news.open !== undefined) {
      this.open = news.open;
      this.onOpen(news.open);
    }
    if (news.version !== undefined) {
      this.held = false;
      this.onNews(news.version);
    }
  }

  /** There were news that the stream did not tell: from now on we ask more often. */
  missed(): void {
    this.held = true;
  }

  private tick(): void {
    const patience = this.open && !this.held ? QUIET_MS : POLL_MS;
    if (document.hidden || Date.now() - this.heard < patience) return;
    this.heard = Date.now();
    this.onNews(undefined);
  }
}
