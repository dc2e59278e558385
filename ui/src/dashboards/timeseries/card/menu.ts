// The menu entries that only charts have: scales, smoothing, combining tags, downloads of the chart and of its data.
import { api, t, type MenuItem, type Plot } from '../../../public';
import { nameOf } from '../../../rooms/card/title';
import { exportChart, fileName, namesFor } from '../../../rooms/export/files';
import type { CardData } from './card.svelte';
import { ts } from '../view.svelte';
import { tt } from '../texts';

interface Forms {
  smooth(): void;
  combine(): void;
  split(): void;
  picture(): void;
}

export function cardMenu(card: string, data: CardData, plot: () => Plot | null, forms: Forms): MenuItem[] {
  const names = namesFor(data.members);
  const title = nameOf(data.tags);
  const file = fileName(title);
  return [
    { label: tt('card.logY'), hint: 'L', checked: ts.scaleOf(card) === 'log', run: () => ts.toggleLog(card) },
    {
      label: tt('card.symlogY'),
      checked: ts.scaleOf(card) === 'symlog',
      run: () => ts.setScale(card, ts.scaleOf(card) === 'symlog' ? 'linear' : 'symlog'),
    },
    { label: tt('card.smooth'), run: forms.smooth },
    { label: tt('card.fit'), disabled: !ts.isZoomed(card), run: () => ts.setZoom(card, null) },
    { label: tt('card.combine'), run: forms.combine },
    ...(data.tags.length > 1
      ? [
          { label: tt('card.rightAxis'), checked: ts.rightAxis.has(card), run: () => ts.toggle('rightAxis', card) },
          { label: tt('card.split'), run: forms.split },
        ]
      : []),
    { label: '', separator: true },
    { label: t('export.svg'), run: () => void exportChart(plot(), title, 'svg') },
    { label: t('export.png'), run: () => void exportChart(plot(), title, 'png') },
    { label: tt('picture.menu'), run: forms.picture },
    { label: t('export.csv'), href: api.exportUrl(names, data.tags, 'csv'), download: `${file}.csv` },
    { label: t('export.json'), href: api.exportUrl(names, data.tags, 'json'), download: `${file}.json` },
  ];
}
