// One colour a run, from its name, the same on every tab and after every reload, in both themes.
//
// The palette has nine colours that colour-blind people can tell apart. A name's hash chooses one of them; when that one
// is taken, the next free one is used. When all nine are taken, a hue is computed from the hash, always with the same
// lightness (OKLCH), so that no run looks more important than another. A name keeps its colour.

export interface Colour {
  light: string;
  dark: string;
}

export const PALETTE: Colour[] = [
  { light: '#0b6bcb', dark: '#5aa9f5' },
  { light: '#e0651a', dark: '#ff9248' },
  { light: '#1a9c5b', dark: '#3ecf8e' },
  { light: '#a23bc4', dark: '#d28cf0' },
  { light: '#c99a00', dark: '#f2c94c' },
  { light: '#00a3a3', dark: '#45d6d6' },
  { light: '#d6336c', dark: '#ff7eb0' },
  { light: '#6b7280', dark: '#9aa4b2' },
  { light: '#7048e8', dark: '#a48bff' },
];

/** FNV-1a over UTF-16 units: quick, and it spreads names well enough. */
export function hashName(name: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) {
    h ^= name.charCodeAt(i);
    h = Math.imul(h, 0x01000193);
  }
  h ^= h >>> 15;
  h = Math.imul(h, 0x2c1b3c6d);
  return (h ^ (h >>> 13)) >>> 0;
}

function gamma(x: number): number {
  const v = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
  return Math.round(Math.min(1, Math.max(0, v)) * 255);
}

/** OKLCH to #rrggbb, clipped to sRGB. */
export function oklch(lightness: number, chroma: number, hue: number): string {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const rgb = [
    gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
  return `#${rgb.map((c) => c.toString(16).padStart(2, '0')).join('')}`;
}

export function generated(hash: number): Colour {
  const hue = hash % 360;
  const chroma = 0.11 + ((hash >>> 9) % 5) * 0.012;
  return { light: oklch(0.58, chroma, hue), dark: oklch(0.76, chroma, hue) };
}

/** Hands out colours by name. */
export class Colours {
  readonly #given = new Map<string, Colour>();
  readonly #taken: boolean[] = PALETTE.map(() => false);
  #free = PALETTE.length;

  of(name: string): Colour {
    const had = this.#given.get(name);
    if (had) return had;
    const hash = hashName(name);
    let colour: Colour;
    if (this.#free > 0) {
      let slot = hash % PALETTE.length;
      while (this.#taken[slot]) slot = (slot + 1) % PALETTE.length;
      this.#taken[slot] = true;
      this.#free--;
      colour = PALETTE[slot];
    } else {
      colour = generated(hash);
    }
    this.#given.set(name, colour);
    return colour;
  }

  /** A colour somebody chose. */
  set(name: string, colour: Colour): void {
    this.#given.set(name, colour);
  }
}
