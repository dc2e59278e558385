// Draws a clip: waveform above spectrogram. Pure functions that draw into a 2D context. The colour ramps begin with the
// background colour, so that silence is inconspicuous in both themes.
import type { Drawn } from './question';

type Rgb = readonly [number, number, number];
const LIGHT: readonly Rgb[] = [
  [255, 255, 255],
  [214, 232, 250],
  [96, 165, 228],
  [16, 82, 160],
  [8, 24, 56],
];
const DARK: readonly Rgb[] = [
  [21, 29, 39],
  [30, 62, 96],
  [58, 124, 140],
  [206, 184, 96],
  [255, 246, 206],
];
const FLOOR = 120; // a byte of 0 in the spectrogram means this many decibels below full scale

/**
 * The colour for each value of a byte, in the byte order of ImageData. Values more than `floor` decibels below
 * `strongest` get the background colour.
 */
export function ramp(isDark: boolean, floor: number, strongest: number): Uint32Array {
  const stops = isDark ? DARK : LIGHT;
  const span = (floor / FLOOR) * 255;
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    const share = Math.max(0, Math.min(1, (byte - (strongest - span)) / span));
    const at = share * (stops.length - 1);
    const i = Math.min(stops.length - 2, Math.floor(at));
    const mix = (k: 0 | 1 | 2) => Math.round(stops[i][k] + (stops[i + 1][k] - stops[i][k]) * (at - i));
    return ((255 << 24) | (mix(2) << 16) | (mix(1) << 8) | mix(0)) >>> 0;
  });
}

export function spectrumImage({ columns, rows, spectrum }: Drawn, colours: Uint32Array): ImageData {
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) pixels[i] = colours[spectrum[i]];
  return image;
}

export const strongestOf = (spectrum: Uint8Array): number => spectrum.reduce((most, byte) => Math.max(most, byte), 0);

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/**
 * Draws for each pixel a vertical line from the least to the greatest sample, connected with that of the pixel before. It
 * is at least one pixel high, so that silence is visible as a line.
 */
export function drawWave(to: CanvasRenderingContext2D, { columns, low, high }: Drawn, box: Box, colour: string): void {
  const middle = box.y + box.height / 2;
  const half = box.height / 2 - 1;
  const level = (byte: number) => middle - ((byte - 127.5) / 127.5) * half;
  const width = Math.max(1, Math.floor(box.width));
  let before: readonly [number, number] | null = null;
  to.fillStyle = colour;
  for (let x = 0; x < width; x++) {
    const from = Math.floor((x * columns) / width);
    const end = Math.max(from + 1, Math.floor(((x + 1) * columns) / width));
    let least = 255;
    let most = 0;
    for (let i = from; i < end; i++) {
      least = Math.min(least, low[i]);
      most = Math.max(most, high[i]);
    }
    const own: readonly [number, number] = [level(most), level(least)];
    const top = before ? Math.min(own[0], before[1]) : own[0];
    const bottom = before ? Math.max(own[1], before[0]) : own[1];
    before = own;
    to.fillRect(box.x + x, top, 1, Math.max(1, bottom - top));
  }
}

const melOf = (hertz: number) => 2595 * Math.log10(1 + hertz / 700);

/** Labels of the frequency axis, with their positions from the bottom of the spectrogram, 0 to 1. */
export function frequencyTicks(scale: 'mel' | 'linear', rate: number, height: number): { text: string; at: number }[] {
  const nyquist = rate / 2;
  const place = (hertz: number) => (scale === 'mel' ? melOf(hertz) / melOf(nyquist) : hertz / nyquist);
  let last = -1;
  return [100, 200, 500, 1000, 2000, 5000, 10000, 20000]
    .map((hertz) => ({ text: hertz < 1000 ? String(hertz) : `${hertz / 1000}k`, at: place(hertz) }))
    .filter(({ at }) => {
      if (at > 0.94 || (at - last) * height < 18 || at * height < 8) return false;
      last = at;
      return true;
    });
}

/** About `count` round times for an axis of this many seconds. */
export function timeTicks(seconds: number, count: number): { at: number; text: string }[] {
  if (!(seconds > 0) || count < 1) return [];
  const raw = seconds / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const minutes = [15, 30, 60, 120, 300, 600, 900, 1800, 3600].find((s) => s >= raw);
  const step = raw > 10 && minutes ? minutes : ([1, 2, 5, 10].find((k) => k * power >= raw) ?? 10) * power;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return Array.from({ length: Math.floor(seconds / step + 1e-9) + 1 }, (_, i) => {
    const at = i * step;
    if (step < 15) return { at, text: `${at.toFixed(digits)} s` };
    const rest = Math.round(at % 60);
    return { at, text: `${Math.floor(at / 60)}:${String(rest).padStart(2, '0')}` };
  });
}
