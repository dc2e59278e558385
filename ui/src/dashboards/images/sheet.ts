// Downloads a contact sheet of the visible images, which the server makes: one row for each run (or tag), with the steps
// below the images.
import { api, saveBlob, shell, svgToPng, type SheetAsk } from '../../public';
import type { Images } from './state.svelte';
import { ti } from './texts';

const SIZE = 160;

export async function saveSheet(dash: Images, kind: 'svg' | 'png'): Promise<void> {
  const rows = dash.sheetRows();
  if (rows.length === 0) {
    shell.say(ti('nothing'));
    return;
  }
  const ask: SheetAsk = { title: document.title, size: SIZE, rows };
  const reply = await api.bytes('sheet', ask);
  if (!reply.ok) {
    shell.say(ti('sheetFailed', { why: reply.error.message }));
    return;
  }
  try {
    const svg = new TextDecoder().decode(reply.value);
    const blob = kind === 'svg' ? new Blob([svg], { type: 'image/svg+xml' }) : await svgToPng(svg, 1);
    if (blob) saveBlob(blob, `contact-sheet.${kind}`);
  } catch (e) {
    shell.say(ti('sheetFailed', { why: e instanceof Error ? e.message : String(e) }));
  }
}
