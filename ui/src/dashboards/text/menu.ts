// Menu entries for copying and downloading a text, and all texts of its series.
import { copyText, type MenuItem } from '../../public';
import { fileName } from '../../rooms/export/files';
import type { TextData } from './card.svelte';
import { tt } from './texts';

function save(url: string, name: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
}

export const textItems = (data: TextData, name: string): MenuItem[] => [
  {
    label: tt('copySource'),
    disabled: data.url === '',
    run: () => void fetch(data.url).then(async (reply) => copyText(await reply.text())),
  },
  {
    label: tt('download'),
    disabled: data.url === '',
    run: () => save(data.url, `${fileName(`${name}_${data.step}`)}.md`),
  },
  {
    label: tt('downloadJson'),
    disabled: data.url === '',
    run: () => save(data.exportUrl('json'), `${fileName(name)}.json`),
  },
  {
    label: tt('downloadCsv'),
    disabled: data.url === '',
    run: () => save(data.exportUrl('csv'), `${fileName(name)}.csv`),
  },
];
