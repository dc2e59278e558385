// Sends requests through a worker, so that neither the network nor inflating and parsing megabytes touches the thread
// that draws. Until the worker has begun, which takes as long as the first picture should, and where workers are
// forbidden, the page does it itself, in the same order.
import { type Result } from '../base/result';
import { CANCELLED, fetchOnce, type FetchAsk } from './fetch.once';
import { FetchQueue, type Priority } from './fetch.queue';
import type { FromWorker, ToWorker } from './fetch.worker';

let worker: Worker | null | undefined;
let hasBegun = false;
let nextId = 1;
const own = new FetchQueue();
const waiting = new Map<number, (result: Result<unknown>) => void>();

/** The worker, if it has begun. */
function start(): Worker | null {
  if (worker !== undefined) return hasBegun ? worker : null;
  try {
    worker = new Worker(new URL('./fetch.worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if ('hasBegun' in data) hasBegun = true;
      else answer(data.id, data.result);
    };
    worker.onerror = () => {
      worker = null; // from now on the page sends requests itself
      const error = { code: 'offline', message: 'the worker ended', isTemporary: true };
      if (hasBegun) for (const id of [...waiting.keys()]) answer(id, { ok: false, error });
    };
  } catch {
    worker = null;
  }
  return null;
}

function answer(id: number, result: Result<unknown>): void {
  waiting.get(id)?.(result);
  waiting.delete(id);
}

/** Makes the worker before the first question, while the page is being put together. */
export function warmUp(): void {
  start();
}

export interface Fetching {
  result: Promise<Result<unknown>>;
  /** The result is `cancelled`, unless it is here already. */
  cancel: () => void;
  move: (priority: Priority) => void;
}

export function fetchQueued(ask: FetchAsk, priority: Priority): Fetching {
  const id = nextId++;
  const w = start();
  const tell = (message: ToWorker) => w?.postMessage(message);
  const result = new Promise<Result<unknown>>((resolve) => waiting.set(id, resolve));
  if (w) tell({ id, ask, priority });
  else own.add(id, priority, async (signal) => answer(id, await fetchOnce(ask, signal)));
  return {
    result,
    cancel: () => {
      if (!waiting.has(id)) return;
      if (w) tell({ id, cancel: true });
      else own.cancel(id);
      answer(id, { ok: false, error: CANCELLED });
    },
    move: (to) => (w ? tell({ id, priority: to }) : own.move(id, to)),
  };
}
