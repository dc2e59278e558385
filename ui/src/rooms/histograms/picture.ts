// What all pictures of histograms share: their box on the card, axes, colours, and the position under the pointer.
import {
  makeAxis,
  projectionOf,
  symlog,
  ticksOf,
  toPixel,
  type Axis,
  type AxisWhat,
  type Grid,
  type PlotTheme,
  type Range,
} from '../../public';
import type { Surface } from './surface';

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}
export interface Look {
  theme: PlotTheme;
  isDark: boolean;
  language: string; // language of dates
}
/** The position of the pointer or of the keyboard in a picture. */
export interface Hit {
  index: number; // index of the step
  value: number;
  px: number; // pixels relative to the picture
  py: number;
  panel?: number; // index of the panel, if a picture has several
}
export interface Picture {
  readonly box: Box;
  paint(surface: Surface): void;
  /** Draws the marks on a layer above the picture: the position of the pointer, and the chosen step (-1: none). */
  over(surface: Surface, hit: Hit | null, chosen: number): void;
  /** The step and value at this position; null if there is none. */
  at(px: number, py: number): Hit | null;
  /** The position of a step and a value, in pixels. */
  placeOf(index: number, value: number): { px: number; py: number };
}

export const boxOf = (
  width: number,
  height: number,
  left: number,
  right: number,
  top: number,
  bottom: number,
): Box => ({
  left,
  top,
  width: Math.max(10, width - left - right),
  height: Math.max(10, height - top - bottom),
});

/** The projection of the value axis: linear, or the server's symmetric logarithm, which is about linear below `near`. */
export const valueProjection = (near: number): ReturnType<typeof projectionOf> =>
  near > 0 ? symlog(near) : projectionOf('linear', null);

export const valueAxis = (grid: Grid, from: number, to: number): Axis =>
  makeAxis(valueProjection(grid.near), [grid.edges[0], grid.edges[grid.bins]], from, to);

/**
 * The approximate width of a text in pixels, at a font size of 11 pixels. Chinese characters are about twice as wide as
 * letters.
 */
export const textWidth = (text: string): number => [...text].reduce((sum, c) => sum + (c > '\u2e80' ? 11.5 : 6.2), 0);

/** The axis of steps or times. If there is only one step, the axis has room on both sides of it. */
export function timeAxis(xs: Float64Array, from: number, to: number, zoom: Range | null = null): Axis {
  let low = Infinity;
  let high = -Infinity;
  for (const x of xs) {
    if (!Number.isFinite(x)) continue;
    low = Math.min(low, x);
    high = Math.max(high, x);
  }
  if (zoom) [low, high] = zoom;
  if (!(low <= high)) [low, high] = [0, 1];
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  return makeAxis(projectionOf('linear', null), [low, high], from, to);
}

/** The format of x on the axis. */
export const whatOf = (x: string): AxisWhat => (x === 'wall' || x === 'relative' ? x : 'whole');

/** Vertical grid lines and the numbers below them, for a horizontal axis. */
export function bottomTicks(s: Surface, axis: Axis, box: Box, look: Look, what: AxisWhat, lines: boolean): void {
  const bottom = box.top + box.height;
  for (const { v, text } of ticksOf(axis, Math.max(2, Math.floor(box.width / 76)), what, look.language)) {
    const x = toPixel(axis, v);
    if (x < box.left - 1 || x > box.left + box.width + 1) continue;
    if (lines) s.path([x, box.top, x, bottom], { stroke: look.theme.grid });
    const half = text.length * 3.2;
    const at = Math.min(Math.max(x, half + 2), box.left + box.width + 44 - half);
    s.text(text, at, bottom + 12, { colour: look.theme.ink, align: 'center' });
  }
}

/** Horizontal grid lines and the numbers at their left. */
export function leftTicks(s: Surface, axis: Axis, box: Box, look: Look, what: AxisWhat = 'number'): void {
  for (const { v, text } of ticksOf(axis, Math.max(2, Math.floor(box.height / 44)), what, look.language)) {
    const y = toPixel(axis, v);
    if (y < box.top - 1 || y > box.top + box.height + 1) continue;
    s.path([box.left, y, box.left + box.width, y], { stroke: look.theme.grid });
    s.text(text, box.left - 6, y, { colour: look.theme.ink, align: 'right' });
  }
}

/** A text in a filled box of a contrasting colour. */
export function label(s: Surface, text: string, x: number, y: number, align: 'left' | 'center', look: Look): void {
  const width = text.length * 6.4 + 10;
  const left = align === 'center' ? x - width / 2 : x;
  s.rect(left, y - 9, width, 18, { fill: look.theme.strong });
  s.text(text, left + width / 2, y, { colour: look.theme.panel, align: 'center' });
}

// ---- colours ----

export type Rgb = readonly [number, number, number];
/** Parses #rrggbb or #rgb. */
export function rgbOf(hex: string): Rgb {
  const full = hex.length === 4 ? hex.replace(/[\da-f]/gi, '$&$&') : hex;
  const n = Number.parseInt(full.slice(1), 16);
  return Number.isFinite(n) ? [n >> 16, (n >> 8) & 255, n & 255] : [11, 107, 203];
}
const mix = (a: Rgb, b: Rgb, t: number): Rgb => [0, 1, 2].map((k) => a[k] + (b[k] - a[k]) * t) as unknown as Rgb;

const NAVY: Rgb = [8, 24, 58];
const CREAM: Rgb = [255, 250, 214];
/**
 * The 256 colours of a heat map: from the background of the card through the colour of the run to a contrasting dark or
 * light colour.
 */
export function heatColours(colour: string, panel: string, isDark: boolean): readonly Rgb[] {
  const [ground, middle, far] = [rgbOf(panel), rgbOf(colour), isDark ? CREAM : NAVY];
  return Array.from({ length: 256 }, (_, i) => {
    const t = i / 255;
    return t < 0.6 ? mix(ground, middle, t / 0.6) : mix(middle, far, (t - 0.6) / 0.4);
  });
}
