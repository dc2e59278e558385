// One HTTP request to the server; used by the worker and by the page. Never throws: what fails becomes a Problem that
// says whether a later try may succeed.
import { retryAfterOf } from '../base/backoff';
import { fail, type Problem, type Result } from '../base/result';

export interface FetchAsk {
  url: string;
  /** JSON text, or a file as it is: the request is a POST, else a GET. */
  body?: string | Blob;
  method?: 'PATCH' | 'DELETE';
  as: 'json' | 'bytes';
  /** The server process whose run ids the request uses: the reply of another one is refused. */
  instance?: string;
}

const OFFLINE = 'offline';
/** After a page is closed, browsers still send request bodies (keepalive) of at most 64 KiB in all. */
const MOST_CARRIED_ON = 16_000;
/** The reply is from another server process than the one that was meant. */
export const OTHER_INSTANCE = 'instance';
export const CANCELLED: Problem = { code: 'cancelled', message: 'cancelled' };

/** These say that the same request may succeed later; other 4xx do not. */
const isTemporary = (status: number): boolean => status >= 500 || status === 408 || status === 425 || status === 429;

async function problemOf(reply: Response): Promise<Problem> {
  const problem: Problem = {
    code: String(reply.status),
    message: reply.statusText || `HTTP ${reply.status}`,
    isTemporary: isTemporary(reply.status),
    retryAfter: retryAfterOf(reply.headers.get('Retry-After'), Date.now()),
  };
  try {
    // a proxy in between may answer with JSON of its own
    const body = (await reply.json()) as { error?: { code?: unknown; message?: unknown; fault?: unknown } } | null;
    const { code, message, fault } = body?.error ?? {};
    if (code !== undefined) problem.code = String(code);
    if (message !== undefined) problem.message = String(message);
    problem.fault = fault;
  } catch {
    // The body is not JSON: the status line is all there is.
  }
  return problem;
}

export async function fetchOnce<T>(ask: FetchAsk, signal?: AbortSignal): Promise<Result<T>> {
  try {
    const init: RequestInit = { credentials: 'same-origin', signal };
    if (ask.body !== undefined) {
      init.method = ask.method ?? 'POST';
      const type = typeof ask.body === 'string' ? 'application/json' : 'application/octet-stream';
      init.headers = { 'Content-Type': type, 'X-Seaboard-Request': '1' };
      init.body = ask.body;
      // a change that somebody made arrives also when the page is closed or loaded anew at once
      if (ask.method && typeof ask.body === 'string') init.keepalive = ask.body.length < MOST_CARRIED_ON;
    }
    const reply = await fetch(ask.url, init);
    const instance = reply.headers.get('X-Seaboard-Instance');
    if (ask.instance && instance && instance !== ask.instance)
      return { ok: false, error: { code: OTHER_INSTANCE, message: 'the server was restarted', isTemporary: true } };
    if (!reply.ok) return { ok: false, error: await problemOf(reply) };
    return { ok: true, value: (ask.as === 'json' ? await reply.json() : await reply.arrayBuffer()) as T };
  } catch (e) {
    if (signal?.aborted) return { ok: false, error: CANCELLED };
    const failed = fail<T>(OFFLINE, e instanceof Error ? e.message : String(e));
    if (!failed.ok) failed.error.isTemporary = true;
    return failed;
  }
}
