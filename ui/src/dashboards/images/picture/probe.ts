// Reads the values of single pixels of an image on the page, through a canvas of the same few pixels.

const canvas = document.createElement('canvas');
const context = canvas.getContext('2d', { willReadFrequently: true });

/** Red, green, blue, alpha of `side` times `side` pixels, starting at (x, y); null if they cannot be read. */
export function pixelsOf(image: HTMLImageElement, x: number, y: number, side = 1): Uint8ClampedArray | null {
  if (!context || !image.complete || image.naturalWidth === 0) return null;
  canvas.width = canvas.height = side; // this also clears the canvas
  try {
    context.imageSmoothingEnabled = false;
    context.drawImage(image, x, y, side, side, 0, 0, side, side);
    return context.getImageData(0, 0, side, side).data;
  } catch {
    return null;
  }
}

export const lumaOf = ([r, g, b]: Uint8ClampedArray): number => Math.round(0.299 * r + 0.587 * g + 0.114 * b);
