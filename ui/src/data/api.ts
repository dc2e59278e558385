// The client of /api/v1. Every call answers a Result; nothing throws. Addresses are relative to the page.
import { fail, ok, type Result } from '../base/result';
import type { BandsAsk, MeasureAsk, Reply, ScalarsAsk, StateItems } from './types';
import { decodeBands, decodeColumns, type Band, type Columns } from './columns';
import { fetchBytes } from './fetcher';

const BASE = new URL('api/v1/', document.baseURI).href;
export const apiUrl = (path: string): string => BASE + path;

async function problemOf<T>(reply: Response): Promise<Result<T>> {
  try {
    const body: unknown = await reply.json();
    if (body && typeof body === 'object' && 'error' in body) {
      const error = body.error as { code?: unknown; message?: unknown };
      return fail(String(error.code ?? reply.status), String(error.message ?? reply.statusText));
    }
  } catch {
    // not JSON: the status line has to do
  }
  return fail(String(reply.status), reply.statusText || `HTTP ${reply.status}`);
}

async function json<T>(path: string, init?: RequestInit): Promise<Result<T>> {
  try {
    const reply = await fetch(BASE + path, { credentials: 'same-origin', ...init });
    if (!reply.ok) return await problemOf(reply);
    return ok((await reply.json()) as T);
  } catch (e) {
    if (e instanceof DOMException && e.name === 'AbortError') return fail('cancelled', 'cancelled');
    return fail('offline', e instanceof Error ? e.message : String(e));
  }
}

const send = (method: string, body: unknown, signal?: AbortSignal): RequestInit => ({
  method,
  headers: { 'Content-Type': 'application/json', 'X-Seaboard-Request': '1' },
  body: JSON.stringify(body),
  signal,
});

export const api = {
  status: (files = false, run = '') =>
    json<Reply<'GET status'>>(files ? `status?files=1${run ? `&run=${encodeURIComponent(run)}` : ''}` : 'status'),
  runs: () => json<Reply<'GET runs'>>('runs'),
  tags: (plugin = '') => json<Reply<'GET tags'>>(plugin ? `tags?plugin=${encodeURIComponent(plugin)}` : 'tags'),
  changes: (since: number) => json<Reply<'GET changes'>>(`changes?since=${since}`),
  summaries: (tags: string[], runs?: number[], signal?: AbortSignal) =>
    json<Reply<'POST summaries'>>('summaries', send('POST', { tags, runs }, signal)),
  measure: (ask: MeasureAsk, signal?: AbortSignal) => json<Reply<'POST measure'>>('measure', send('POST', ask, signal)),
  state: () => json<Reply<'GET state'>>('state'),
  patchState: (revision: number, items: StateItems) =>
    json<Reply<'PATCH state'>>('state', send('PATCH', { revision, items })),

  async scalars(ask: ScalarsAsk, signal?: AbortSignal): Promise<Result<Columns>> {
    const body = await fetchBytes(`${BASE}scalars`, JSON.stringify(ask), signal);
    return body.ok ? decodeColumns(body.value) : body;
  },
  async bands(ask: BandsAsk, signal?: AbortSignal): Promise<Result<Band[]>> {
    const body = await fetchBytes(`${BASE}bands`, JSON.stringify(ask), signal);
    return body.ok ? decodeBands(body.value) : body;
  },

  exportUrl(runs: string[], tags: string[], format: 'csv' | 'json'): string {
    const query = new URLSearchParams();
    for (const run of runs) query.append('run', run);
    for (const tag of tags) query.append('tag', tag);
    query.append('format', format);
    return `${BASE}export?${query.toString()}`;
  },
};
