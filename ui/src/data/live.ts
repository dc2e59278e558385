// News from the server: through one stream that all tabs share, else through a stream of this page, else by polling
// every second (where a proxy holds streams back). It tells versions only; what is new is asked for by those who need it.
import { isHidden } from './page';
import type { StreamNews } from './stream.news';
import { Stream } from './stream.source';

const QUIET_MS = 15000;
const POLL_MS = 1000;

export class Live {
  #url = '';
  #port: MessagePort | null = null;
  #own: Stream | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #ended = new AbortController();
  #heard = 0;
  #open = false;
  #isHeldBack = false;

  constructor(
    /** What the stream said; empty: it said nothing for long, so ask. */
    private readonly onNews: (news: StreamNews) => void,
    private readonly onOpen: (open: boolean) => void,
  ) {}

  start(url: string): void {
    this.#url = url;
    this.#heard = Date.now();
    try {
      const shared = new SharedWorker(new URL('./stream.shared.ts', import.meta.url), {
        type: 'module',
        name: url,
      });
      shared.onerror = () => this.#startOwn();
      const port = shared.port;
      this.#port = port;
      port.onmessage = (e: MessageEvent<StreamNews>) => this.#take(e.data);
      port.start();
      port.postMessage({ url });
      const { signal } = this.#ended;
      addEventListener('pagehide', () => this.#port?.postMessage({ bye: true }), { signal });
      // a page that the browser kept and shows again
      const onPageShow = (e: Event) => (e as PageTransitionEvent).persisted && this.#port?.postMessage({ url });
      addEventListener('pageshow', onPageShow, { signal });
    } catch {
      this.#startOwn();
    }
    this.#timer = setInterval(() => this.#tick(), POLL_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#ended.abort();
    this.#port?.postMessage({ bye: true });
    this.#own?.close();
  }

  #startOwn(): void {
    this.#port = null;
    this.#own ??= new Stream(this.#url, (news) => this.#take(news));
  }

  #take(news: StreamNews): void {
    this.#heard = Date.now();
    if (news.open !== undefined) {
      this.#open = news.open;
      this.onOpen(news.open);
    }
    if (news.version !== undefined) {
      this.#isHeldBack = false;
      this.onNews(news);
    }
  }

  /** There was news that the stream did not tell: a proxy holds it back, so poll from now on. */
  missed(): void {
    this.#isHeldBack = true;
  }

  #tick(): void {
    const patience = this.#open && !this.#isHeldBack ? QUIET_MS : POLL_MS;
    if (isHidden() || Date.now() - this.#heard < patience) return;
    this.#heard = Date.now();
    this.onNews({});
  }
}
