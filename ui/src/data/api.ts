// Requests of the hub to /api/v1, and what is asked for once because somebody clicked: jobs, files to download. Every call gives
// a Result; nothing throws. Addresses are relative to the page. What dashboards show goes through LiveQuery (query/) instead.
import type { Result } from '../base/result';
import { fetchOnce } from './fetch.once';
import type { GraphDrawing, JobAsk, Reply, StateItems } from './types';

export const apiUrl = (path: string): string => new URL(`api/v1/${path}`, document.baseURI).href;

const get = <T>(path: string): Promise<Result<T>> => fetchOnce<T>({ url: apiUrl(path), as: 'json' });

export const api = {
  status: () => get<Reply<'GET status'>>('status'),
  runs: () => get<Reply<'GET runs'>>('runs'),
  tags: () => get<Reply<'GET tags'>>('tags'),
  changes: (since: number, instance: string) =>
    get<Reply<'GET changes'>>(`changes?since=${since}&instance=${encodeURIComponent(instance)}`),
  state: () => get<Reply<'GET state'>>('state'),
  patchState: (revision: number, items: StateItems) =>
    fetchOnce<Reply<'PATCH state'>>({
      url: apiUrl('state'),
      method: 'PATCH',
      body: JSON.stringify({ revision, items }),
      as: 'json',
    }),

  /** Uploads a file that holds a graph; the reply has the name that later questions use for it. */
  graphFile: (file: Blob, over: AbortSignal) =>
    fetchOnce<{ file: string; format: GraphDrawing['format']; isLarge: boolean }>(
      { url: apiUrl('graph/file'), body: file, as: 'json' },
      over,
    ),

  submitJob: (ask: JobAsk) =>
    fetchOnce<Reply<'POST jobs'>>({ url: apiUrl('jobs'), body: JSON.stringify(ask), as: 'json' }),
  job: (id: number) => get<Reply<'GET job'>>(`job?id=${id}`),
  /** The result of a job that answers with JSON. */
  jobResult: <T>(id: number, over: AbortSignal) =>
    fetchOnce<T>({ url: apiUrl(`job/result?id=${id}`), as: 'json' }, over),
  /** Tells the server that one client no longer waits for the job; it is cancelled when nobody does. */
  cancelJob: (id: number) =>
    fetchOnce<Reply<'DELETE job'>>({ url: apiUrl(`job?id=${id}`), method: 'DELETE', body: '', as: 'json' }),

  /** The bytes of a file to download or to copy; a POST if there is a body. */
  bytes: (path: string, body?: object) =>
    fetchOnce<ArrayBuffer>({ url: apiUrl(path), body: body && JSON.stringify(body), as: 'bytes' }),

  exportUrl(runs: readonly string[], tags: readonly string[], format: 'csv' | 'json'): string {
    const query = new URLSearchParams();
    for (const run of runs) query.append('run', run);
    for (const tag of tags) query.append('tag', tag);
    query.append('format', format);
    return apiUrl(`export?${query.toString()}`);
  },
};
