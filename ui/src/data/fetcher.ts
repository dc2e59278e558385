// Fetches large binary replies in a worker, so that neither the network nor the inflating of megabytes touches the
// thread that draws. The body comes back by transfer, not by copy. Where workers are forbidden the page does it itself.
import { fail, ok, type Result } from '../base/result';
import type { FetchAnswer, FetchAsk } from './fetch.worker';

type Waiting = (answer: FetchAnswer) => void;

let worker: Worker | null | undefined;
let nextId = 1;
const waiting = new Map<number, Waiting>();

function start(): Worker | null {
  if (worker !== undefined) return worker;
  try {
    worker = new Worker(new URL('./fetch.worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = (e: MessageEvent<FetchAnswer>) => {
      waiting.get(e.data.id)?.(e.data);
      waiting.delete(e.data.id);
    };
    worker.onerror = () => {
      worker = null;
      for (const [id, give] of waiting) give({ id, code: 'offline', message: 'the worker ended' });
      waiting.clear();
    };
  } catch {
    worker = null;
  }
  return worker;
}

async function direct(url: string, body: string, signal?: AbortSignal): Promise<Result<ArrayBuffer>> {
  const { fetchOnce } = await import('./fetch.once');
  const answer = await fetchOnce({ id: 0, url, body }, signal);
  return answer.bytes ? ok(answer.bytes) : fail(answer.code ?? 'offline', answer.message ?? '');
}

/** Makes the worker before the first question, while the page is being put together. */
export function warmUp(): void {
  start();
}

export function fetchBytes(url: string, body: string, signal?: AbortSignal): Promise<Result<ArrayBuffer>> {
  const w = start();
  if (!w) return direct(url, body, signal);
  return new Promise((resolve) => {
    const message: FetchAsk = { id: nextId++, url, body };
    const done = (answer: FetchAnswer) =>
      resolve(answer.bytes ? ok(answer.bytes) : fail(answer.code ?? 'offline', answer.message ?? ''));
    waiting.set(message.id, done);
    signal?.addEventListener('abort', () => {
      if (!waiting.delete(message.id)) return;
      w.postMessage({ id: message.id, cancel: true });
      resolve(fail('cancelled', 'cancelled'));
    });
    w.postMessage(message);
  });
}
