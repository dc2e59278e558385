// The fields of the address that only the images dashboard has: layout and display of images, the sample that each card
// shows, the common zoom, and the two images that are compared.
import { cardKey, cardOf, fields, joinList, numberOr, splitList, view, type Field } from '../../public';
import { GridView } from '../../rooms/cards/grid.svelte';
import type { Spacing } from '../../rooms/media/shelf';

export const PLUGIN = 'images' as const;
const PREFIX = 'img';

export type Mode = 'cards' | 'grid' | 'strip';
export type Comparing = 'swipe' | 'blink' | 'side' | 'difference';

/** The visible part of an image: the scale relative to the size that fits, and the position of its centre, 0 to 1. */
export interface Zoom {
  scale: number;
  x: number;
  y: number;
}
export const WHOLE_PICTURE: Zoom = { scale: 1, x: 0.5, y: 0.5 };
export const MOST_SCALE = 256;

/** One side of the comparison: a card of one run and sample, and its step; null means the newest step. */
export interface Side {
  card: string;
  step: number | null;
}
export const sideOf = (tag: string, run: string, sample: number, step: number | null): Side => ({
  card: cardKey({ plugin: PLUGIN, tags: [tag], run, sample }),
  step,
});

const within = (v: number, low: number, high: number) => Math.min(high, Math.max(low, v));
const round = (v: number) => Number(v.toPrecision(4));

function number<P extends string>(key: string, of: Record<P, number>, name: P, most: number): Field {
  return {
    key,
    write: () => (of[name] === 1 ? '' : String(of[name])),
    read: (text) => (of[name] = within(numberOr(text, 1), 0, most)),
  };
}
function side<P extends string>(key: string, of: Record<P, Side | null>, name: P): Field {
  return {
    key,
    write: () => {
      const chosen = of[name];
      return chosen ? joinList([chosen.step === null ? '' : String(chosen.step), chosen.card]) : '';
    },
    read: (text) => {
      const [step = '', card = ''] = splitList(text);
      const isOne = card !== '' && cardOf(card).plugin === PLUGIN && cardOf(card).run !== undefined;
      of[name] = isOne ? { card, step: step === '' ? null : numberOr(step, NaN) } : null;
      if (Number.isNaN(of[name]?.step)) of[name] = null;
    },
  };
}

export const MOST_BRIGHTNESS = 2;
export const MOST_CONTRAST = 5;

class ImagesView {
  mode = $state<Mode>('cards');
  /** sections that have the other layout than the rest: cards among grids, or a grid among cards */
  groups = $state.raw<ReadonlySet<string>>(new Set());
  spacing = $state<Spacing>('log');
  /** the tag that all other tags are compared with; '' if none */
  reference = $state('');
  actual = $state(false); // images are shown at their original size
  turned = $state.raw<ReadonlySet<string>>(new Set()); // cards for which `actual` is inverted
  each = $state(false); // each sample has a card of its own
  brightness = $state(1);
  contrast = $state(1);
  zoom = $state.raw<Zoom>(WHOLE_PICTURE);
  private samples = $state.raw<ReadonlyMap<string, number>>(new Map());
  a = $state.raw<Side | null>(null);
  b = $state.raw<Side | null>(null);
  comparing = $state<Comparing>('swipe');

  constructor() {
    view.add(PREFIX, [
      fields.taste(fields.choice('mode', this, 'mode', ['cards', 'grid', 'strip'])),
      fields.names('groups', this, 'groups'),
      fields.text('ref', this, 'reference'),
      fields.taste(fields.choice('columns', this, 'spacing', ['log', 'even'])),
      fields.taste(fields.flag('actual', this, 'actual')),
      fields.names('turned', this, 'turned'),
      fields.taste(fields.flag('each', this, 'each')),
      fields.taste(number('brightness', this, 'brightness', MOST_BRIGHTNESS)),
      fields.taste(number('contrast', this, 'contrast', MOST_CONTRAST)),
      { key: 'zoom', write: () => this.writeZoom(), read: (text) => this.readZoom(text) },
      { key: 'sample', write: () => this.writeSamples(), read: (text) => this.readSamples(text) },
      side('a', this, 'a'),
      side('b', this, 'b'),
      fields.choice('compare', this, 'comparing', ['swipe', 'blink', 'side', 'difference']),
    ]);
  }

  private writeZoom(): string {
    const { scale, x, y } = this.zoom;
    return scale === 1 ? '' : [scale, x, y].map(round).join('~');
  }
  private readZoom(text: string): void {
    const [scale, x, y] = text.split('~').map(Number);
    const isOne = [scale, x, y].every(Number.isFinite) && scale > 1;
    this.zoom = isOne ? { scale: Math.min(scale, MOST_SCALE), x: within(x, 0, 1), y: within(y, 0, 1) } : WHOLE_PICTURE;
  }
  private writeSamples(): string {
    return joinList([...this.samples].map(([card, sample]) => `${sample}|${card}`));
  }
  private readSamples(text: string): void {
    const next = new Map<string, number>();
    for (const item of splitList(text)) {
      const found = /^(\d{1,6})\|(.*)$/s.exec(item);
      if (found) next.set(found[2], Number(found[1]));
    }
    this.samples = next;
  }

  /** Gives all sections the same layout. */
  setMode(mode: Mode): void {
    this.mode = mode;
    this.groups = new Set();
  }
  /** The layout of the cards of one section. */
  modeOf(group: string): Mode {
    if (this.mode === 'strip' || !this.groups.has(group)) return this.mode;
    return this.mode === 'grid' ? 'cards' : 'grid';
  }
  setModeOf(group: string, mode: Mode): void {
    if (this.modeOf(group) !== mode) this.groups = fields.toggled(this.groups, group);
  }

  sampleOf(card: string): number {
    return cardOf(card).sample ?? this.samples.get(card) ?? 0;
  }
  setSample(card: string, sample: number): void {
    const next = new Map(this.samples);
    if (sample > 0) next.set(card, sample);
    else next.delete(card);
    this.samples = next;
  }
  isActual(card: string): boolean {
    return this.actual !== this.turned.has(card);
  }
  toggleActual(card: string): void {
    this.turned = fields.toggled(this.turned, card);
  }
  setAllActual(actual: boolean): void {
    this.actual = actual;
    this.turned = new Set();
  }

  /** The CSS filter for brightness and contrast. */
  get filter(): string {
    return this.brightness === 1 && this.contrast === 1
      ? 'none'
      : `brightness(${this.brightness}) contrast(${this.contrast})`;
  }
  get isFiltered(): boolean {
    return this.filter !== 'none';
  }
  resetFilter(): void {
    this.brightness = 1;
    this.contrast = 1;
  }

  choose(which: 'a' | 'b', chosen: Side): void {
    this[which] = chosen;
  }
  closeCompare(): void {
    this.a = null;
    this.b = null;
  }
}

export const imagesView = new ImagesView();
export const grid = new GridView(PREFIX);
