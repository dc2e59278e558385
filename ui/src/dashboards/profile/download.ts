// Downloads of a capture: tables as CSV, and a time range or the whole capture as a Chrome trace, which other programs can open.
import { api, apiUrl, followJob, saveBlob, saveUrl, shell } from '../../public';
import type { Capture, TotalsAsk } from './question';
import { tt } from './texts';
import type { Span } from './view.svelte';

/** Saves a reply of the server as a file, or says why there is none. */
async function save(name: string, path: string, type: string, body?: object): Promise<void> {
  const reply = await api.bytes(path, body);
  if (reply.ok) saveBlob(new Blob([reply.value], { type }), name);
  else shell.say(reply.error.message || tt('downloadFailed'));
}

export async function downloadTotals(capture: Capture, ask: TotalsAsk): Promise<void> {
  await save('range.csv', 'profile/totals', 'text/csv', { capture: capture.id, ...ask, csv: true });
}

/** The address of a table as CSV. */
export function csvUrl(
  table: 'operators' | 'kernels' | 'difference' | 'steps' | 'memory' | 'input' | 'modules' | 'collectives',
  { id }: Capture,
  params: Record<string, string> = {},
): string {
  const isSorted = table === 'operators' || table === 'kernels' || table === 'difference';
  const query = new URLSearchParams({ capture: id, ...params, ...(isSorted ? { format: 'csv' } : { table }) });
  return apiUrl(`profile/${isSorted ? table : 'csv'}?${query.toString()}`);
}

/** Downloads a Chrome trace. The server makes it as a job, which this waits for. */
export async function downloadTrace(capture: Capture, name: string, window: Span | null): Promise<void> {
  const range = window ? { from: Math.round(window[0]), to: Math.round(window[1]) } : {};
  let isTold = false;
  const tell = () => {
    if (!isTold) shell.say(tt('traceMade'));
    isTold = true;
  };
  const job = await followJob(
    { kind: 'profile_trace', args: { capture: capture.id, ...range } },
    new AbortController().signal,
    tell,
  );
  if (job.ok) saveUrl(apiUrl(`job/result?id=${job.value}`), `${name}.trace.json`);
  else shell.say(job.error.message);
}
