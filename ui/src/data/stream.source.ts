// One event stream that stays open. A browser opens a broken EventSource again by itself, but gives up when it is
// answered with an error (a proxy's 502 while the server restarts): then it is opened again here, with back-off.
import { backoff } from '../base/backoff';
import { newsOf, type StreamNews } from './stream.news';

export class Stream {
  #source: EventSource | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;

  constructor(
    private readonly url: string,
    private readonly tell: (news: StreamNews) => void,
  ) {
    this.#open();
  }

  get isOpen(): boolean {
    return this.#source?.readyState === EventSource.OPEN;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #open(): void {
    const source = new EventSource(this.url);
    this.#source = source;
    source.onopen = () => {
      this.#failures = 0;
      this.tell({ open: true });
    };
    source.onmessage = (e) => this.tell(newsOf(String(e.data)));
    source.onerror = () => {
      this.tell({ open: false });
      if (source.readyState !== EventSource.CLOSED || this.#source !== source) return;
      source.close();
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#open(), backoff(++this.#failures));
    };
  }
}
