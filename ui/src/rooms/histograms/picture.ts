// What pictures of histograms share: their place on the card, their axes, colours, and what the pointer is on.
import {
  makeAxis,
  projectionOf,
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
  language: string; // of dates
}
/** What the pointer, or the keyboard, is on. */
export interface Hit {
  index: number; // of the step
  value: number;
  px: number; // in the picture
  py: number;
  panel?: number; // where a picture has several
}
export interface Picture {
  readonly box: Box;
  paint(surface: Surface): void;
  /** On a layer of its own: what the pointer is on, and the step that is chosen; -1: none. */
  over(surface: Surface, hit: Hit | null, chosen: number): void;
  /** What is at this place; null: nothing. */
  at(px: number, py: number): Hit | null;
  /** The place of a step, at a value. */
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

const symlogs = new Map<number, ReturnType<typeof projectionOf>>();
/** The projection of the values: linear, or the server's log axis, which turns at `near`. */
export function valueProjection(near: number): ReturnType<typeof projectionOf> {
  if (near <= 0) return projectionOf('linear', null);
  let made = symlogs.get(near);
  if (!made) {
    made = {
      kind: 'symlog',
      near,
      f: (v) => Math.sign(v) * Math.log1p(Math.abs(v) / near),
      back: (u) => Math.sign(u) * Math.expm1(Math.abs(u)) * near,
    };
    symlogs.set(near, made);
  }
  return made;
}

export const valueAxis = (grid: Grid, from: number, to: number): Axis =>
  makeAxis(valueProjection(grid.near), [grid.edges[0], grid.edges[grid.bins]], from, to);

/** The axis of steps or times; one step alone has room on either side. */
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

/** How x is written on the axis. */
export const whatOf = (x: string): AxisWhat => (x === 'wall' || x === 'relative' ? x : 'whole');

/** Vertical lines and numbers below, for an axis along the bottom. */
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

/** Horizontal lines and numbers at the left. */
export function leftTicks(s: Surface, axis: Axis, box: Box, look: Look, what: AxisWhat = 'number'): void {
  for (const { v, text } of ticksOf(axis, Math.max(2, Math.floor(box.height / 44)), what, look.language)) {
    const y = toPixel(axis, v);
    if (y < box.top - 1 || y > box.top + box.height + 1) continue;
    s.path([box.left, y, box.left + box.width, y], { stroke: look.theme.grid });
    s.text(text, box.left - 6, y, { colour: look.theme.ink, align: 'right' });
  }
}

/** A number on a dark label. */
export function label(s: Surface, text: string, x: number, y: number, align: 'left' | 'center', look: Look): void {
  const width = text.length * 6.4 + 10;
  const left = align === 'center' ? x - width / 2 : x;
  s.rect(left, y - 9, width, 18, { fill: look.theme.strong });
  s.text(text, left + width / 2, y, { colour: look.theme.panel, align: 'center' });
}

// ---- colours ----

export type Rgb = readonly [number, number, number];
/** Of #rrggbb or #rgb. */
export function rgbOf(hex: string): Rgb {
  const full = hex.length === 4 ? hex.replace(/[\da-f]/gi, '$&$&') : hex;
  const n = Number.parseInt(full.slice(1), 16);
  return Number.isFinite(n) ? [n >> 16, (n >> 8) & 255, n & 255] : [11, 107, 203];
}
const mix = (a: Rgb, b: Rgb, t: number): Rgb => [0, 1, 2].map((k) => a[k] + (b[k] - a[k]) * t) as unknown as Rgb;

const NAVY: Rgb = [8, 24, 58];
const CREAM: Rgb = [255, 250, 214];
/** From the ground of the card through the run's colour to its opposite: 256 colours. */
export function heatColours(colour: string, panel: string, isDark: boolean): readonly Rgb[] {
  const [ground, middle, far] = [rgbOf(panel), rgbOf(colour), isDark ? CREAM : NAVY];
  return Array.from({ length: 256 }, (_, i) => {
    const t = i / 255;
    return t < 0.6 ? mix(ground, middle, t / 0.6) : mix(middle, far, (t - 0.6) / 0.4);
  });
}
