// Downloads: file names, names of runs in URLs, export of a chart as an image.
import { chartExport, plotTheme, runs, saveBlob, settings, svgToPng, type Plot, type Run } from '../../public';

const MOST_IN_URL = 100;
export const fileName = (card: string) => card.replace(/[^\w.-]+/g, '_') || 'chart';

/**
 * The names of runs for a URL. If there are too many for a URL, the list is empty, which the server takes as all runs.
 */
export const namesFor = (those: readonly Run[]): string[] =>
  those.length > MOST_IN_URL ? [] : those.map((run) => run.name);
export const exportNames = (): string[] => namesFor(runs.shown);

/**
 * Downloads a chart. With `size`, the image has that many pixels; without, it has its size on the page, PNG at twice the
 * resolution.
 */
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
