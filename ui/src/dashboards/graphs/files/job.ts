// Waits for a background job of the server. The job is cancelled if the page stops waiting.
import { api, fail, type GraphDrawAsk, type GraphDrawing, type Result } from '../../../public';

const POLL_MS = 150;
export const CANCELLED = 'cancelled';

/**
 * Makes a drawing that takes too long for one request, because the graph is large to read or to lay out. `args` are those
 * of graph/draw.
 */
export async function drawByJob(
  args: GraphDrawAsk,
  over: AbortSignal,
  tell: (share: number) => void,
): Promise<Result<GraphDrawing>> {
  let reply = await api.submitJob({ kind: 'graph', args });
  const id = reply.ok ? reply.value.job.id : 0;
  while (reply.ok && !over.aborted) {
    const { state, done, total, error, code, fault } = reply.value.job;
    tell(total ? done / total : 0);
    if (state === 'done') return api.jobResult<GraphDrawing>(id, over);
    if (state === 'failed' || state === 'cancelled')
      return { ok: false, error: { code: code ?? 'failed', message: error ?? state, fault } }; // it was not cancelled by this page
    await rest(POLL_MS, over);
    if (!over.aborted) reply = await api.job(id);
  }
  if (!over.aborted && !reply.ok) return reply;
  if (id) await api.cancelJob(id);
  return fail(CANCELLED, CANCELLED);
}

const rest = (ms: number, over: AbortSignal) =>
  new Promise<void>((wake) => {
    const timer = setTimeout(wake, ms);
    over.addEventListener('abort', () => {
      clearTimeout(timer);
      wake();
    });
  });
