// Downloads of histograms: pictures, and the URLs of their data.
import { apiUrl, plotTheme, saveBlob, settings, svgToPng, type Run } from '../../public';
import { fileName, namesFor } from '../export/files';
import type { Picture } from './picture';
import { SvgSurface } from './surface';

export async function savePicture(
  picture: Picture | null,
  size: { width: number; height: number },
  title: string,
  kind: 'svg' | 'png',
): Promise<void> {
  if (!picture) return;
  const surface = new SvgSurface();
  picture.paint(surface);
  const svg = surface.file(size.width, size.height, title, plotTheme(settings.dark));
  const blob = kind === 'svg' ? new Blob([svg], { type: 'image/svg+xml' }) : await svgToPng(svg);
  if (blob) saveBlob(blob, `${fileName(title)}.${kind}`);
}

export function bucketsUrl(those: readonly Run[], tag: string, format: 'csv' | 'json'): string {
  const query = new URLSearchParams();
  for (const name of namesFor(those)) query.append('run', name);
  query.append('tag', tag);
  query.append('format', format);
  return apiUrl(`histograms/export?${query.toString()}`);
}
