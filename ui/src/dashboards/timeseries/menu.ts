// What a card's menu offers: scale, width, and the chart or its data to take away.
import {
  api,
  chartSvg,
  copyText,
  plotTheme,
  runs,
  saveBlob,
  settings,
  svgToPng,
  t,
  view,
  type MenuItem,
  type Plot,
  type Run,
} from '../../public';
import type { CardData } from './card.svelte';
import { nameOf } from './combined';
import { movePin } from '../../rooms/card/drag';

const MOST_IN_URL = 100;
export const fileName = (card: string) => card.replace(/[^\w.-]+/g, '_') || 'chart';

/** Names for an address; none when too many to fit: then all runs are meant. */
export const namesFor = (those: readonly Run[]): string[] =>
  those.length > MOST_IN_URL ? [] : those.map((run) => run.name);
export const exportNames = (): string[] => namesFor(runs.shown);

export async function exportChart(plot: Plot | null, title: string, kind: 'svg' | 'png'): Promise<void> {
  if (!plot) return;
  const theme = plotTheme(settings.dark);
  const svg = chartSvg(plot, title, { ink: theme.ink, grid: theme.grid, panel: theme.panel });
  const blob = kind === 'svg' ? new Blob([svg], { type: 'image/svg+xml' }) : await svgToPng(svg);
  if (blob) saveBlob(blob, `${fileName(title)}.${kind}`);
}

function pinMoves(card: string): MenuItem[] {
  const at = view.pins.indexOf(card);
  if (at < 0 || view.pins.length < 2) return [];
  return [
    { label: t('card.pinEarlier'), disabled: at === 0, run: () => movePin(card, at - 1) },
    { label: t('card.pinLater'), disabled: at === view.pins.length - 1, run: () => movePin(card, at + 1) },
  ];
}

interface Forms {
  smooth(): void;
  combine(): void;
  split(): void;
}

export function cardMenu(tag: string, data: CardData, plot: () => Plot | null, forms: Forms): MenuItem[] {
  const names = namesFor(data.members);
  const title = nameOf(data.tags);
  const file = fileName(title);
  return [
    { label: t('card.logY'), hint: 'L', checked: view.scaleOf(tag) === 'log', run: () => view.toggleLog(tag) },
    {
      label: t('card.symlogY'),
      checked: view.scaleOf(tag) === 'symlog',
      run: () => view.setScale(tag, view.scaleOf(tag) === 'symlog' ? 'linear' : 'symlog'),
    },
    { label: t('card.smooth'), run: forms.smooth },
    { label: t('card.wide'), checked: view.wide.has(tag), run: () => view.toggle('wide', tag) },
    ...pinMoves(tag),
    { label: t('card.fit'), disabled: !view.isZoomed(tag), run: () => view.setZoom(tag, null) },
    { label: t('card.combine'), run: forms.combine },
    ...(data.tags.length > 1
      ? [
          { label: t('card.rightAxis'), checked: view.rightAxis.has(tag), run: () => view.toggle('rightAxis', tag) },
          { label: t('card.split'), run: forms.split },
        ]
      : []),
    { label: '', separator: true },
    { label: t('export.svg'), run: () => void exportChart(plot(), title, 'svg') },
    { label: t('export.png'), run: () => void exportChart(plot(), title, 'png') },
    { label: t('export.csv'), href: api.exportUrl(names, data.tags, 'csv'), download: `${file}.csv` },
    { label: t('export.json'), href: api.exportUrl(names, data.tags, 'json'), download: `${file}.json` },
    { label: '', separator: true },
    { label: t('card.copyTag'), run: () => void copyText(data.tags.join('\n')) },
  ];
}
