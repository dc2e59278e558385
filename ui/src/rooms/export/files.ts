// Downloads: names of files, names of runs in addresses, a chart as a picture.
import { chartExport, plotTheme, runs, saveBlob, settings, svgToPng, type Plot, type Run } from '../../public';

const MOST_IN_URL = 100;
export const fileName = (card: string) => card.replace(/[^\w.-]+/g, '_') || 'chart';

/** Names for an address; none when too many to fit: then all runs are meant. */
export const namesFor = (those: readonly Run[]): string[] =>
  those.length > MOST_IN_URL ? [] : those.map((run) => run.name);
export const exportNames = (): string[] => namesFor(runs.shown);

/** With a size it has that many pixels; without one it is as large as on the page, twice as sharp. */
export async function exportChart(
  plot: Plot | null,
  title: string,
  kind: 'svg' | 'png',
  size: { width: number; height: number } | null = null,
): Promise<void> {
  if (!plot) return;
  const theme = plotTheme(settings.dark);
  const { chartSvg } = await chartExport();
  const svg = chartSvg(plot, title, { ink: theme.ink, grid: theme.grid, panel: theme.panel }, size);
  const blob = kind === 'svg' ? new Blob([svg], { type: 'image/svg+xml' }) : await svgToPng(svg, size ? 1 : 2);
  if (blob) saveBlob(blob, `${fileName(title)}.${kind}`);
}
