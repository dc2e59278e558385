// The worker behind fetcher.ts. Requests come in, replies go out: bytes by transfer, JSON parsed here, because cloning
// the parsed value costs the page about half of what parsing its text would. { id, cancel } drops a request.
import type { Result } from '../base/result';
import { fetchOnce, type FetchAsk } from './fetch.once';
import { FetchQueue, type Priority } from './fetch.queue';

export type ToWorker =
  { id: number; ask: FetchAsk; priority: Priority } | { id: number; priority: Priority } | { id: number; cancel: true };
export type FromWorker = { id: number; result: Result<unknown> } | { hasBegun: true };

const queue = new FetchQueue();

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if ('cancel' in data) return queue.cancel(data.id);
  if (!('ask' in data)) return queue.move(data.id, data.priority);
  const { id, ask, priority } = data;
  queue.add(id, priority, async (signal) => {
    const result = await fetchOnce(ask, signal);
    const bytes = result.ok && result.value instanceof ArrayBuffer ? [result.value] : [];
    self.postMessage({ id, result } satisfies FromWorker, bytes);
  });
};
self.postMessage({ hasBegun: true } satisfies FromWorker);
