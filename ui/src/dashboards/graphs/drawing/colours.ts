// Colours of boxes: the colour of each box for each way of colouring, and the legend.
import { format, oklch, PALETTE } from '../../../public';
import { OP, type Drawing } from './drawing';
import { tt } from '../texts';
import type { Colouring } from '../view.svelte';

export interface Theme {
  dark: boolean;
  bg: string;
  panel: string;
  inner: string;
  line: string;
  ink: string;
  ink2: string;
  edge: string;
  accent: string;
  mark: string;
}
const LIGHT: Theme = {
  dark: false,
  bg: '#f6f7f9',
  panel: '#ffffff',
  inner: '#f6f8fb',
  line: '#d3d9e1',
  ink: '#17202c',
  ink2: '#55606f',
  edge: '#a3adba',
  accent: '#0b6bcb',
  mark: '#e8b90e',
};
const DARK: Theme = {
  dark: true,
  bg: '#0e141b',
  panel: '#18212c',
  inner: '#1c2733',
  line: '#344253',
  ink: '#e6ebf2',
  ink2: '#a3afbf',
  edge: '#5b6a7c',
  accent: '#5aa9f5',
  mark: '#f2c94c',
};
export const themeOf = (dark: boolean): Theme => (dark ? DARK : LIGHT);

const ORANGE_LIGHT = ['#fdf1e1', '#fbdcb0', '#f6b26b', '#e58532', '#b94a17'];
const ORANGE_DARK = ['#2a2a26', '#54452a', '#8a6226', '#c9852b', '#fbc77c'];

function mixed(a: string, b: string, t: number): string {
  const part = (text: string, k: number) => parseInt(text.slice(1 + 2 * k, 3 + 2 * k), 16);
  return `#${[0, 1, 2]
    .map((k) =>
      Math.round(part(a, k) + (part(b, k) - part(a, k)) * t)
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;
}

/** The colour for a share from 0 to 1: from the background colour to a contrasting one. */
export function ramp(share: number, dark: boolean): string {
  const stops = dark ? ORANGE_DARK : ORANGE_LIGHT;
  const at = Math.max(0, Math.min(0.9999, share)) * (stops.length - 1);
  return mixed(stops[Math.floor(at)], stops[Math.floor(at) + 1], at % 1);
}

/** The text colour, dark or white, that is readable on this colour. */
export function inkOn(colour: string): string {
  const linear = [0, 1, 2].map((k) => {
    const v = parseInt(colour.slice(1 + 2 * k, 3 + 2 * k), 16) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return luminance > 0.24 ? '#17202c' : '#ffffff';
}

const soft = (i: number, dark: boolean): string =>
  i < PALETTE.length
    ? mixed(dark ? PALETTE[i].dark : PALETTE[i].light, dark ? '#18212c' : '#ffffff', dark ? 0.55 : 0.68)
    : dark
      ? oklch(0.42, 0.06, (i * 137.5) % 360)
      : oklch(0.88, 0.06, (i * 137.5) % 360);

export interface LegendEntry {
  colour: string;
  text: string;
}
export interface Legend {
  entries: LegendEntry[];
  /** a continuous range of numbers, in place of entries */
  range?: { from: string; to: string; colours: string[] };
}
export interface Colours {
  /** the colour of each box; "" if it has none of its own */
  fill: string[];
  legend: Legend | null;
}

const NONE: Colours = { fill: [], legend: null };
const MOST_ENTRIES = 8;

/** Gives a colour to each text or number that occurs; the most frequent come first. */
function byKind(keys: readonly number[], name: (key: number) => string, theme: Theme, least = 1) {
  const counts = new Map<number, number>();
  for (const key of keys) if (key >= 0) counts.set(key, (counts.get(key) ?? 0) + 1);
  const order = [...counts].filter(([, n]) => n >= least).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const colourOf = new Map(order.map(([key], i) => [key, soft(i, theme.dark)]));
  const entries = order
    .slice(0, MOST_ENTRIES)
    .map(([key, n]) => ({ colour: colourOf.get(key) ?? '', text: `${name(key)} · ${format.count(n)}` }));
  return { fill: keys.map((key) => colourOf.get(key) ?? ''), legend: { entries } };
}

function byAmount(drawing: Drawing, amounts: readonly number[], text: (v: number) => string, theme: Theme): Colours {
  let most = 0;
  amounts.forEach((v, i) => {
    if (!drawing.has(i, 1)) most = Math.max(most, v);
  });
  const fill = amounts.map((v) => (v < 0 ? '' : ramp(most > 0 ? Math.min(1, v / most) : 0, theme.dark)));
  const stops = [0, 0.25, 0.5, 0.75, 1].map((s) => ramp(s, theme.dark));
  return { fill, legend: { entries: [], range: { from: text(0), to: text(most), colours: stops } } };
}

export const micros = (us: number): string =>
  us < 0
    ? ''
    : us < 1000
      ? `${format.value(us, 3)} µs`
      : us < 1e6
        ? `${format.value(us / 1000, 3)} ms`
        : `${format.value(us / 1e6, 3)} s`;

function byDifference({ of: { boxes } }: Drawing, theme: Theme, one: string, other: string): Colours {
  const colours = theme.dark ? ['', '#5a4a1c', '#5c2a2e', '#1f4d38'] : ['', '#fbeec4', '#f9d4d5', '#cfeedd'];
  return {
    fill: boxes.side.map((side) => colours[side]),
    legend: {
      entries: [
        { colour: colours[1], text: tt('changed') },
        { colour: colours[2], text: tt('onlyIn', { name: one }) },
        { colour: colours[3], text: tt('onlyIn', { name: other }) },
      ],
    },
  };
}

export function coloursOf(
  drawing: Drawing,
  how: Colouring | 'difference',
  theme: Theme,
  names: { one: string; other: string },
): Colours {
  const { boxes } = drawing.of;
  if (how === 'difference') return byDifference(drawing, theme, names.one, names.other);
  if (how === 'structure') {
    const { fill } = byKind(boxes.structure, () => '', theme, 2);
    return { fill, legend: { entries: [{ colour: soft(0, theme.dark), text: tt('structureMany') }] } };
  }
  if (how === 'device') return byKind(boxes.device, (id) => shortDevice(drawing.text(id)), theme);
  if (how === 'cluster') return byKind(boxes.cluster, (id) => drawing.text(id), theme);
  if (how === 'time') return byAmount(drawing, boxes.time, micros, theme);
  if (how === 'memory') return byAmount(drawing, boxes.bytes, format.bytes, theme);
  if (how === 'tpu') {
    const [good, bad] = theme.dark ? ['#1f4d38', '#5c2a2e'] : ['#cfeedd', '#f9d4d5'];
    return {
      fill: boxes.incompatible.map((n, i) =>
        boxes.kind[i] === OP ? (n ? bad : good) : mixed(good, bad, Math.min(1, (n / Math.max(1, boxes.ops[i])) * 2)),
      ),
      legend: {
        entries: [
          { colour: good, text: tt('compatible') },
          { colour: bad, text: tt('incompatible') },
        ],
      },
    };
  }
  return NONE;
}

/** "/job:localhost/replica:0/task:0/device:GPU:0" as "GPU:0". */
export const shortDevice = (device: string): string => /device:([^/]+)$/.exec(device)?.[1] ?? device;
