// Downloads of a capture: tables as CSV, and a time range or the whole capture as a Chrome trace, which other programs can open.
import { api, apiUrl, saveBlob, shell } from '../../public';
import type { Capture, TotalsAsk } from './question';
import { tt } from './texts';
import type { Span } from './view.svelte';

const POLL_MS = 300;
const json = (body: object): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'X-Seaboard-Request': '1' },
  body: JSON.stringify(body),
});

async function fetched(path: string, init?: RequestInit): Promise<Response | null> {
  try {
    const reply = await fetch(apiUrl(path), init);
    if (reply.ok) return reply;
    const problem = (await reply.json().catch(() => null)) as { error?: { message?: string } } | null;
    shell.say(problem?.error?.message ?? tt('downloadFailed'));
  } catch {
    shell.say(tt('downloadFailed'));
  }
  return null;
}

export async function downloadTotals(capture: Capture, ask: TotalsAsk): Promise<void> {
  const reply = await fetched('profile/totals', json({ capture: capture.id, ...ask, csv: true }));
  if (reply) saveBlob(await reply.blob(), 'range.csv');
}

/** The address of a table as CSV. */
export function csvUrl(
  table: 'operators' | 'kernels' | 'steps' | 'memory' | 'input' | 'modules' | 'collectives',
  { id }: Capture,
  params: Record<string, string> = {},
): string {
  const isSorted = table === 'operators' || table === 'kernels';
  const query = new URLSearchParams({ capture: id, ...params, ...(isSorted ? { format: 'csv' } : { table }) });
  return apiUrl(`profile/${isSorted ? table : 'csv'}?${query.toString()}`);
}

/** Downloads a Chrome trace. The server makes it as a job, which this waits for. */
export async function downloadTrace(capture: Capture, name: string, window: Span | null): Promise<void> {
  const range = window ? { from: Math.round(window[0]), to: Math.round(window[1]) } : {};
  let reply = await api.submitJob({ kind: 'profile_trace', args: { capture: capture.id, ...range } });
  if (reply.ok) shell.say(tt('traceMade'));
  while (reply.ok) {
    const { id, state, error } = reply.value.job;
    if (state === 'done') {
      const result = await fetched(`job/result?id=${id}`);
      if (result) saveBlob(await result.blob(), `${name}.trace.json`);
      return;
    }
    if (state === 'failed' || state === 'cancelled') return shell.say(error ?? tt('downloadFailed'));
    await new Promise((wake) => setTimeout(wake, POLL_MS));
    reply = await api.job(id);
  }
  shell.say(reply.error.message);
}
