// The worker behind fetcher.ts: asks come in, bodies go out by transfer; { id, cancel } gives one up. A few are under way
// at a time, in the order in which they came: the first chart is whole before the tenth begins.
import { fetchOnce } from './fetch.once';

export interface FetchAsk {
  id: number;
  url: string;
  body: string;
  cancel?: boolean;
}
export interface FetchAnswer {
  id: number;
  bytes?: ArrayBuffer;
  code?: string;
  message?: string;
}

const AT_ONCE = 2;
const waiting = new Map<number, FetchAsk>();
const running = new Map<number, AbortController>();

function next(): void {
  for (const [id, ask] of waiting) {
    if (running.size >= AT_ONCE) return;
    waiting.delete(id);
    const stop = new AbortController();
    running.set(id, stop);
    void fetchOnce(ask, stop.signal).then((answer) => {
      running.delete(id);
      self.postMessage(answer, answer.bytes ? [answer.bytes] : []);
      next();
    });
  }
}

self.onmessage = (e: MessageEvent<FetchAsk>) => {
  const ask = e.data;
  if (ask.cancel) {
    waiting.delete(ask.id);
    running.get(ask.id)?.abort();
  } else waiting.set(ask.id, ask);
  next();
};
