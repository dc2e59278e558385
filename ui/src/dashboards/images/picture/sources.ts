// Chooses where an image is loaded from: the logged bytes, or a thumbnail that the server makes. A thumbnail is used if
// the image is much larger than its box, or too large for a browser to decode.
import { apiUrl, runs, hub } from '../../../public';
import { fileName } from '../../../rooms/export/files';
import type { Spot } from '../../../rooms/media/shelf';

/** Types of images that the server can make thumbnails of. */
const DECODED = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const MOVES = 'image/gif';
const SIZES = [64, 128, 256, 512, 1024, 2048];
/** Images with more pixels are not given to the browser, which needs four bytes of memory for each pixel. */
const MOST_PIXELS = 48e6;
const FIRST_PICTURE = 2; // index of the first image in the logged tensor: width and height come before it

const named = (spot: Spot): URLSearchParams =>
  new URLSearchParams({ run: String(spot.run), at: spot.at, tag: spot.tag });

/** The URL of the bytes as they were logged. */
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
/** The API path that tells what an image is, and why it cannot be shown. */
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
  /** is each pixel of the file a pixel of the original image? */
  isOriginal: boolean;
}

export const isTooLarge = (spot: Spot): boolean => spot.width * spot.height > MOST_PIXELS;
export const isAnimated = (spot: Spot): boolean => spot.type === MOVES;
export const isPicture = (spot: Spot): boolean => spot.type.startsWith('image/') && spot.type !== 'image/svg+xml';

/** The source for a box of this many CSS pixels. For 0 it is the original image, if it is not too large for a browser. */
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
/** The source of a thumbnail without animation. */
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
/** The file name for downloading an image. */
export function nameFor(spot: Spot): string {
  const run = hub.runs.find(({ id }) => id === spot.run);
  const name = [run ? runs.nameOf(run) : '', spot.tag, spot.step, spot.sample + 1].join('_');
  return `${fileName(name)}.${ENDINGS[spot.type] ?? 'bin'}`;
}
