// Where the bytes of a picture come from: the log's own, or a thumbnail that the server makes. A thumbnail is taken where
// the picture is much larger than the place for it, and where it is so large that a browser would choke on it.
import { apiUrl, runs, hub } from '../../../public';
import { fileName } from '../../../rooms/export/files';
import type { Spot } from '../../../rooms/media/shelf';

/** What the server makes thumbnails of. */
const DECODED = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const MOVES = 'image/gif';
const SIZES = [64, 128, 256, 512, 1024, 2048];
/** A browser takes four bytes for each pixel of a picture. */
const MOST_PIXELS = 48e6;
const FIRST_PICTURE = 2; // width and height stand before the pictures

const named = (spot: Spot): URLSearchParams =>
  new URLSearchParams({ run: String(spot.run), at: spot.at, tag: spot.tag });

/** The bytes as they were logged. */
export function originalUrl(spot: Spot): string {
  const query = named(spot);
  query.set('index', String(spot.sample + FIRST_PICTURE));
  return apiUrl(`blob?${query.toString()}`);
}
export function thumbnailUrl(spot: Spot, size: number, frame = 0): string {
  const query = named(spot);
  query.set('index', String(spot.sample));
  query.set('size', String(size));
  if (frame) query.set('frame', String(frame));
  return apiUrl(`thumbnail?${query.toString()}`);
}
/** The path of the answer to what it is, and why it cannot be shown. */
export function aboutPath(spot: Spot, check = false): string {
  const query = named(spot);
  query.set('index', String(spot.sample));
  if (check) query.set('check', '1');
  return `picture?${query.toString()}`;
}
export function pairPath(route: 'compare' | 'difference', a: Spot, b: Spot): string {
  const query = named(a);
  query.set('index', String(a.sample));
  for (const [key, value] of named(b)) query.set(`${key}2`, value);
  query.set('index2', String(b.sample));
  return `${route}?${query.toString()}`;
}

export interface Source {
  url: string;
  /** one pixel is one pixel of the picture */
  isOriginal: boolean;
}

export const isTooLarge = (spot: Spot): boolean => spot.width * spot.height > MOST_PIXELS;
export const isAnimated = (spot: Spot): boolean => spot.type === MOVES;
export const isPicture = (spot: Spot): boolean => spot.type.startsWith('image/') && spot.type !== 'image/svg+xml';

/** What to show in a place of so many CSS pixels; 0: the picture itself, whatever its size, if a browser can take it. */
export function sourceOf(spot: Spot, pixels: number): Source {
  const longer = Math.max(spot.width, spot.height);
  const canScale = DECODED.has(spot.type) && longer > 0;
  if (canScale && isTooLarge(spot)) return { url: thumbnailUrl(spot, 2048), isOriginal: false };
  const wanted = pixels * devicePixelRatio;
  const size = SIZES.find((s) => s >= wanted) ?? 2048;
  if (pixels > 0 && canScale && !isAnimated(spot) && longer > 1.5 * size)
    return { url: thumbnailUrl(spot, size), isOriginal: false };
  return { url: originalUrl(spot), isOriginal: true };
}
/** As a small, still picture. */
export function stillOf(spot: Spot, pixels: number): Source {
  if (!isAnimated(spot)) return sourceOf(spot, pixels);
  const size = SIZES.find((s) => s >= pixels * devicePixelRatio) ?? 2048;
  return { url: thumbnailUrl(spot, size), isOriginal: false };
}

const ENDINGS: Record<string, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/bmp': 'bmp',
  'image/avif': 'avif',
  'image/svg+xml': 'svg',
};
/** The name under which a picture is saved. */
export function nameFor(spot: Spot): string {
  const run = hub.runs.find(({ id }) => id === spot.run);
  const name = [run ? runs.nameOf(run) : '', spot.tag, spot.step, spot.sample + 1].join('_');
  return `${fileName(name)}.${ENDINGS[spot.type] ?? 'bin'}`;
}
