// The position of an image in its box, and the pixel of the image under the pointer. Pure functions.
import { MOST_SCALE, WHOLE_PICTURE, type Zoom } from '../view.svelte';

export interface Box {
  width: number;
  height: number;
}
export interface Placed {
  left: number;
  top: number;
  width: number;
  height: number;
  /** CSS pixels for each pixel of the image */
  pixel: number;
}

/**
 * The scale at which the image fits. Small images are enlarged by whole numbers, so that all their pixels have the same
 * size.
 */
export function fit(picture: Box, box: Box): number {
  const scale = Math.min(box.width / picture.width, box.height / picture.height);
  return scale >= 2 ? Math.floor(scale) : scale;
}

/**
 * The position of a zoomed image: the centre of the box shows the centre of the zoom, but the box never shows space
 * beyond an edge of the image.
 */
export function placeIn(picture: Box, box: Box, zoom: Zoom = WHOLE_PICTURE): Placed {
  const pixel = fit(picture, box) * zoom.scale;
  const [width, height] = [picture.width * pixel, picture.height * pixel];
  const along = (size: number, room: number, middle: number) =>
    size <= room ? (room - size) / 2 : Math.min(0, Math.max(room - size, room / 2 - middle * size));
  return {
    left: along(width, box.width, zoom.x),
    top: along(height, box.height, zoom.y),
    width,
    height,
    pixel,
  };
}

/** The pixel of the image at a position in the box; null if the position is outside of the image. */
export function pixelAt(placed: Placed, x: number, y: number): [number, number] | null {
  const [px, py] = [(x - placed.left) / placed.pixel, (y - placed.top) / placed.pixel];
  const inside = px >= 0 && py >= 0 && px < placed.width / placed.pixel && py < placed.height / placed.pixel;
  return inside ? [Math.floor(px), Math.floor(py)] : null;
}

/** Zooms by a factor. The point of the image at (x, y) of the box stays there. */
export function zoomAt(picture: Box, box: Box, zoom: Zoom, x: number, y: number, factor: number): Zoom {
  const scale = Math.min(MOST_SCALE, Math.max(1, zoom.scale * factor));
  if (scale === 1) return WHOLE_PICTURE;
  const before = placeIn(picture, box, zoom);
  const [u, v] = [(x - before.left) / before.width, (y - before.top) / before.height];
  const pixel = fit(picture, box) * scale;
  const middle = (share: number, at: number, room: number, size: number) =>
    Math.min(1, Math.max(0, share + (room / 2 - at) / size));
  return {
    scale,
    x: middle(u, x, box.width, picture.width * pixel),
    y: middle(v, y, box.height, picture.height * pixel),
  };
}

/** Moves the visible part by this many CSS pixels. */
export function panBy(picture: Box, box: Box, zoom: Zoom, dx: number, dy: number): Zoom {
  const placed = placeIn(picture, box, zoom);
  const along = (left: number, by: number, room: number, size: number) =>
    size <= room ? 0.5 : Math.min(1, Math.max(0, (room / 2 - Math.min(0, Math.max(room - size, left + by))) / size));
  return {
    scale: zoom.scale,
    x: along(placed.left, dx, box.width, placed.width),
    y: along(placed.top, dy, box.height, placed.height),
  };
}
