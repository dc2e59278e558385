// The value of single pixels of a picture that is on the page, read through a canvas of one pixel (or a few).

const canvas = document.createElement('canvas');
const context = canvas.getContext('2d', { willReadFrequently: true });

/** red, green, blue, alpha of `side` times `side` pixels from (x, y) on; null: they can't be read. */
export function pixelsOf(image: HTMLImageElement, x: number, y: number, side = 1): Uint8ClampedArray | null {
  if (!context || !image.complete || image.naturalWidth === 0) return null;
  canvas.width = canvas.height = side; // and cleared
  try {
    context.imageSmoothingEnabled = false;
    context.drawImage(image, x, y, side, side, 0, 0, side, side);
    return context.getImageData(0, 0, side, side).data;
  } catch {
    return null;
  }
}

export const lumaOf = ([r, g, b]: Uint8ClampedArray): number => Math.round(0.299 * r + 0.587 * g + 0.114 * b);
