// One POST with a binary answer; used by the worker and, where there is none, by the page.
import type { FetchAnswer, FetchAsk } from './fetch.worker';

export async function fetchOnce(ask: FetchAsk, signal?: AbortSignal): Promise<FetchAnswer> {
  try {
    const reply = await fetch(ask.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Seaboard-Request': '1' },
      body: ask.body,
      credentials: 'same-origin',
      signal,
    });
    if (reply.ok) return { id: ask.id, bytes: await reply.arrayBuffer() };
    const text = await reply.text();
    try {
      const error = (JSON.parse(text) as { error: { code: string; message: string } }).error;
      return { id: ask.id, code: error.code, message: error.message };
    } catch {
      return { id: ask.id, code: String(reply.status), message: text.slice(0, 200) || reply.statusText };
    }
  } catch (e) {
    if (e instanceof DOMException && e.name === 'AbortError')
      return { id: ask.id, code: 'cancelled', message: 'cancelled' };
    return { id: ask.id, code: 'offline', message: e instanceof Error ? e.message : String(e) };
  }
}
