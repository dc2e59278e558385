// Menu entries for copying and downloading a text, and all texts of its series.
import { api, apiUrl, copyText, saveUrl, shell, t, type MenuItem } from '../../public';
import { fileName } from '../../rooms/export/files';
import type { TextData } from './card.svelte';
import { tt } from './texts';

async function copySource(path: string): Promise<void> {
  const reply = await api.bytes(path);
  if (!reply.ok) shell.say(tt('copyFailed', { why: reply.error.message }));
  else if (await copyText(new TextDecoder().decode(reply.value))) shell.say(t('copied'));
}

export const textItems = (data: TextData, name: string): MenuItem[] => [
  {
    label: tt('copySource'),
    disabled: data.path === '',
    run: () => void copySource(data.path),
  },
  {
    label: tt('download'),
    disabled: data.path === '',
    run: () => saveUrl(apiUrl(data.path), `${fileName(`${name}_${data.step}`)}.md`),
  },
  {
    label: tt('downloadJson'),
    disabled: data.path === '',
    run: () => saveUrl(data.exportUrl('json'), `${fileName(name)}.json`),
  },
  {
    label: tt('downloadCsv'),
    disabled: data.path === '',
    run: () => saveUrl(data.exportUrl('csv'), `${fileName(name)}.csv`),
  },
];
