// Kinds of slices and parts of a step, and their colours in both themes. Text on a colour is dark or white, whichever is
// read better.
import type { PartKind } from './types';

export const KINDS = [
  'other',
  'operator',
  'annotation',
  'python',
  'runtime',
  'kernel',
  'copy',
  'communication',
  'input',
  'sync',
  'overhead',
  'step',
  'marker',
  'memory',
  'module',
  'xla',
  'compile',
  'optimizer',
] as const;
export type Kind = (typeof KINDS)[number];
export const kindOf = (code: number): Kind => KINDS[code] ?? 'other';

type Shade = readonly [light: string, dark: string];
const SHADES: Record<Kind, Shade> = {
  other: ['#94a3b8', '#64748b'],
  operator: ['#6aa5e0', '#4f8fcf'],
  annotation: ['#8b9bb4', '#6f819c'],
  python: ['#a7b3c4', '#54657c'],
  runtime: ['#d4ae33', '#c79c1f'],
  kernel: ['#3a86d6', '#4c9be8'],
  copy: ['#d4ac2c', '#d9b23f'],
  communication: ['#b05acb', '#c07ad8'],
  input: ['#e07b39', '#e8884a'],
  sync: ['#9aa4b2', '#7c8797'],
  overhead: ['#c0656b', '#cc737a'],
  step: ['#dbe0e7', '#3b4757'],
  marker: ['#55606f', '#a3afbf'],
  memory: ['#38a89d', '#3fbfb2'],
  module: ['#5f97d8', '#5b94d6'],
  xla: ['#7c6ae0', '#9585f0'],
  compile: ['#c98a5a', '#c98a5a'],
  optimizer: ['#45ab7e', '#4dbb8a'],
};
const PARTS: Record<PartKind, Kind> = {
  compute: 'kernel',
  communication: 'communication',
  copy: 'memory',
  input: 'input',
  launch: 'runtime',
  host: 'operator',
  sync: 'sync',
  compile: 'compile',
  optimizer: 'optimizer',
  other: 'other',
  busy: 'step',
};

export const colourOf = (kind: Kind, dark: boolean): string => SHADES[kind][dark ? 1 : 0];
export const partColour = (kind: PartKind, dark: boolean): string => colourOf(PARTS[kind] ?? 'other', dark);

/** Relative luminance of a colour such as #3a86d6. */
function luminance(hex: string): number {
  const channel = (at: number) => {
    const v = parseInt(hex.slice(at, at + 2), 16) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}
const DARK_TEXT = '#101820';
export function textOn(hex: string): string {
  const l = luminance(hex);
  return (l + 0.05) / (luminance(DARK_TEXT) + 0.05) >= 1.05 / (l + 0.05) ? DARK_TEXT : '#ffffff';
}

/** The colours of a theme that the canvas needs: for each kind its colour, and that of text on it. */
export interface Colours {
  dark: boolean;
  fill: readonly string[];
  text: readonly string[];
  bg: string;
  panel: string;
  line: string;
  soft: string;
  ink: string;
  ink2: string;
  accent: string;
  /** colour of the critical path */
  path: string;
}
export function coloursFor(dark: boolean): Colours {
  const fill = KINDS.map((kind) => colourOf(kind, dark));
  return {
    dark,
    fill,
    text: fill.map(textOn),
    bg: dark ? '#0e141b' : '#f6f7f9',
    panel: dark ? '#151d27' : '#ffffff',
    line: dark ? '#26313f' : '#e3e6eb',
    soft: dark ? '#1d2733' : '#eef0f3',
    ink: dark ? '#e6ebf2' : '#17202c',
    ink2: dark ? '#a3afbf' : '#55606f',
    accent: dark ? '#5aa9f5' : '#0b6bcb',
    path: dark ? '#ff7aa8' : '#d6246e',
  };
}
