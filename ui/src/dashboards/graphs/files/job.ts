// Makes a drawing that takes too long for one request, because the graph is large to read or to lay out. The job is cancelled if
// the page stops waiting.
import { api, followJob, type GraphDrawAsk, type GraphDrawing, type Result } from '../../../public';

export { STOPPED as CANCELLED } from '../../../public';

/** `args` are those of graph/draw. */
export async function drawByJob(
  args: GraphDrawAsk,
  over: AbortSignal,
  tell: (share: number) => void,
): Promise<Result<GraphDrawing>> {
  const job = await followJob({ kind: 'graph', args }, over, tell);
  return job.ok ? api.jobResult<GraphDrawing>(job.value, over) : job;
}
