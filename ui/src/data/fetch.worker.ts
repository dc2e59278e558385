// The worker behind fetcher.ts: asks come in, bodies go out by transfer; { id, cancel } gives one up.
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

const running = new Map<number, AbortController>();

self.onmessage = (e: MessageEvent<FetchAsk>) => {
  const ask = e.data;
  if (ask.cancel) {
    running.get(ask.id)?.abort();
    running.delete(ask.id);
    return;
  }
  const stop = new AbortController();
  running.set(ask.id, stop);
  void fetchOnce(ask, stop.signal).then((answer) => {
    running.delete(ask.id);
    self.postMessage(answer, answer.bytes ? [answer.bytes] : []);
  });
};
