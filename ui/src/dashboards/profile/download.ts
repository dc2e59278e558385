// Downloads of a capture: tables as CSV, a window or all of it as a Chrome trace, which other programs open.
import { apiUrl, saveBlob, shell } from '../../public';
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

interface JobReply {
  job: { id: number; state: string; error?: string };
}
/** A Chrome trace: the server makes it while we wait. */
export async function downloadTrace(capture: Capture, name: string, window: Span | null): Promise<void> {
  const range = window ? { from: Math.round(window[0]), to: Math.round(window[1]) } : {};
  let reply = await fetched('jobs', json({ kind: 'profile_trace', args: { capture: capture.id, ...range } }));
  shell.say(tt('traceMade'));
  while (reply) {
    const { job } = (await reply.json()) as JobReply;
    if (job.state === 'done') {
      const result = await fetched(`job/result?id=${job.id}`);
      if (result) saveBlob(await result.blob(), `${name}.trace.json`);
      return;
    }
    if (job.state === 'failed' || job.state === 'cancelled') return shell.say(job.error ?? tt('downloadFailed'));
    await new Promise((wake) => setTimeout(wake, POLL_MS));
    reply = await fetched(`job?id=${job.id}`);
  }
}
