// Waits for a background job of the server, which is cancelled if nobody waits any longer.
import { fail, type Result } from '../base/result';
import { api } from './api';
import type { JobAsk } from './types';

const POLL_MS = 150;
/** The code of the failure when the page stopped waiting. */
export const STOPPED = 'cancelled';

/** Submits a job and follows it until it is done; the value is its id, by which the result is fetched. */
export async function followJob(
  ask: JobAsk,
  over: AbortSignal,
  tell: (share: number) => void,
): Promise<Result<number>> {
  let reply = await api.submitJob(ask);
  const id = reply.ok ? reply.value.job.id : 0;
  while (reply.ok && !over.aborted) {
    const { state, done, total, error, code } = reply.value.job;
    tell(total ? done / total : 0);
    if (state === 'done') return { ok: true, value: id };
    if (state === 'failed' || state === 'cancelled') return fail(code ?? 'failed', error ?? state); // it was not cancelled by this page
    await rest(POLL_MS, over);
    if (!over.aborted) reply = await api.job(id);
  }
  if (!over.aborted && !reply.ok) return reply;
  if (id) await api.cancelJob(id);
  return fail(STOPPED, STOPPED);
}

const rest = (ms: number, over: AbortSignal) =>
  new Promise<void>((wake) => {
    const timer = setTimeout(wake, ms);
    over.addEventListener('abort', () => {
      clearTimeout(timer);
      wake();
    });
  });
