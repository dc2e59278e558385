// What a card's menu offers: scale, width, and the chart or its data to take away.
import { api, chartSvg, plotTheme, runs, saveBlob, settings, svgToPng, t, view, type MenuItem, type Plot } from '../../public';
import type { CardData } from './card.svelte';

const MOST_IN_URL = 100;
const fileName = (tag: string) => tag.replace(/[^\w.-]+/g, '_') || 'chart';

/** Names for an address; none when all runs are meant, or too many to fit. */
export function exportNames(): string[] {
  const names = runs.shown.map((run) => run.name);
  return names.length > MOST_IN_URL ? [] : names;
}

export async function exportChart(plot: Plot | null, tag: string, kind: 'svg' | 'png'): Promise<void> {
  if (!plot) return;
  const theme = plotTheme(settings.dark);
  const svg = chartSvg(plot, tag, { ink: theme.ink, grid: theme.grid, panel: theme.panel });
  const blob = kind === 'svg' ? new Blob([svg], { type: 'image/svg+xml' }) : await svgToPng(svg);
  if (blob) saveBlob(blob, `${fileName(tag)}.${kind}`);
}

export function cardMenu(tag: string, data: CardData, plot: () => Plot | null, smooth: () => void): MenuItem[] {
  const names = data.members.length > MOST_IN_URL ? [] : data.members.map((run) => run.name);
  const file = fileName(tag);
  return [
    { label: t('card.logY'), hint: 'L', checked: view.scaleOf(tag) === 'log', run: () => view.toggleLog(tag) },
    { label: t('card.symlogY'), checked: view.scaleOf(tag) === 'symlog', run: () => view.setScale(tag, view.scaleOf(tag) === 'symlog' ? 'linear' : 'symlog') },
    { label: t('card.smooth'), run: smooth },
    { label: t('card.wide'), checked: view.wide.has(tag), run: () => view.toggle('wide', tag) },
    { label: t('card.fit'), disabled: !view.zoom.has(tag), run: () => view.setZoom(tag, null) },
    { label: '', separator: true },
    { label: t('export.svg'), run: () => void exportChart(plot(), tag, 'svg') },
    { label: t('export.png'), run: () => void exportChart(plot(), tag, 'png') },
    { label: t('export.csv'), href: api.exportUrl(names, [tag], 'csv'), download: `${file}.csv` },
    { label: t('export.json'), href: api.exportUrl(names, [tag], 'json'), download: `${file}.json` },
    { label: '', separator: true },
    { label: t('card.copyTag'), run: () => void navigator.clipboard?.writeText(tag) },
  ];
}
