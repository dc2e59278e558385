// Waits for a background job of the server, which is cancelled if nobody waits any longer.
import { backoff } from '../base/backoff';
import { fail, type Result } from '../base/result';
import { api } from './api';
import { timesHeard, waiting } from './job.news';
import type { JobAsk } from './types';

/** Between two questions at least; a job that goes on is news many times a second. */
const LEAST_MS = 150;
/** Without news each pause is twice as long as the one before, up to this: the stream may be off, or not there yet. */
const MOST_MS = 2000;
/** Failures in a row after which it is given up, which is about a minute and a half later. */
const MOST_FAILURES = 8;
/** The code of the failure when the page stopped waiting. */
export const STOPPED = 'cancelled';

/**
 * Submits a job and follows it until it is done; the value is its id, by which the result is fetched. A question that fails for
 * a moment is asked again: the server goes on with the job.
 */
export async function followJob(
  ask: JobAsk,
  over: AbortSignal,
  tell: (share: number) => void,
): Promise<Result<number>> {
  let [known, quiet] = [timesHeard(), LEAST_MS];
  let reply = await api.submitJob(ask);
  const id = reply.ok ? reply.value.job.id : 0;
  let failures = 0;
  while (!over.aborted) {
    if (reply.ok) {
      failures = 0;
      const { state, done, total, error, code, fault } = reply.value.job;
      tell(total ? done / total : 0);
      if (state === 'done') return { ok: true, value: id };
      if (state === 'failed' || state === 'cancelled')
        return { ok: false, error: { code: code ?? 'failed', message: error ?? state, fault } }; // it was not cancelled by this page
      await rest(LEAST_MS, over);
      if (timesHeard() === known) await rest(quiet - LEAST_MS, over, waiting);
      quiet = Math.min(2 * quiet, MOST_MS);
    } else {
      if (!id || !reply.error.isTemporary || failures === MOST_FAILURES) return reply;
      await rest(backoff(++failures, reply.error), over);
    }
    if (over.aborted) break;
    known = timesHeard();
    reply = await api.job(id);
  }
  if (id) await api.cancelJob(id);
  return fail(STOPPED, STOPPED);
}

/** Ends after a while, when nobody waits any longer, and when one of `wakers` is called. */
const rest = (ms: number, over: AbortSignal, wakers = new Set<() => void>()) =>
  new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      wakers.delete(end);
      over.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    wakers.add(end);
    over.addEventListener('abort', end);
    if (over.aborted) end();
  });
