// Downloads a contact sheet of the visible images, which the server makes: one row for each run (or tag), with the steps
// below the images.
import { apiUrl, saveBlob, shell, svgToPng, type SheetAsk } from '../../public';
import type { Images } from './state.svelte';
import { ti } from './texts';

const SIZE = 160;

async function fetchSheet(ask: SheetAsk): Promise<string> {
  const reply = await fetch(apiUrl('sheet'), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Seaboard-Request': '1' },
    body: JSON.stringify(ask),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(text.slice(0, 200));
  return text;
}

export async function saveSheet(dash: Images, kind: 'svg' | 'png'): Promise<void> {
  const rows = dash.sheetRows();
  if (rows.length === 0) {
    shell.say(ti('nothing'));
    return;
  }
  try {
    const svg = await fetchSheet({ title: document.title, size: SIZE, rows });
    const blob = kind === 'svg' ? new Blob([svg], { type: 'image/svg+xml' }) : await svgToPng(svg, 1);
    if (blob) saveBlob(blob, `contact-sheet.${kind}`);
  } catch (e) {
    shell.say(ti('sheetFailed', { why: e instanceof Error ? e.message : String(e) }));
  }
}
