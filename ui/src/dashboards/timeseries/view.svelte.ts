// What the address says of the time series beyond what all dashboards share: smoothing, scales, zoom, bands, comparison,
// cards of several tags, tables under charts. Cards are known by their keys (base/address/card.ts).
import {
  fields,
  joinList,
  numberOr,
  oneOf,
  splitList,
  view,
  type Field,
  type Scale,
  type SmoothKind,
  type X,
  type Zoom,
} from '../../public';
import { GridView } from '../../rooms/cards/grid.svelte';
import { steps } from '../../rooms/steps/steps.svelte';

export interface CardSmoothing {
  kind: SmoothKind;
  weight: number;
}
export type Compare = 'off' | 'difference' | 'ratio';
export type Spread = 'off' | 'std' | 'ci95' | 'minmax';

export const PREFIX = 'ts';
const USUAL = 0.6; // smoothing, as TensorBoard's
const MOST = 0.999;
const KINDS: readonly [SmoothKind, ...SmoothKind[]] = ['ema', 'time_ema', 'window', 'gaussian', 'median'];

const writeRange = (r: [number, number] | null) => (r ? `${r[0]}~${r[1]}` : '');
function readRange(text: string): [number, number] | null {
  const ends = text.split('~').map(Number);
  return ends.length === 2 && ends.every(Number.isFinite) && ends[0] < ends[1] ? [ends[0], ends[1]] : null;
}

export class TimeSeriesView {
  xScale = $state<Scale>('linear');
  /** null: nobody chose one */
  private chosenSmoothing = $state<number | null>(null);
  smoothKind = $state<SmoothKind>('ema');
  outliers = $state(true);
  cardSmoothing = $state.raw<ReadonlyMap<string, CardSmoothing>>(new Map()); // of cards that have their own
  envelope = $state(false);
  combined = $state.raw<readonly string[]>([]); // cards of several tags
  rightAxis = $state.raw<ReadonlySet<string>>(new Set()); // those with a second y axis
  attempts = $state(false); // also what a restart went over again
  partition = $state(false); // a line for each part of a run whose steps go back
  compare = $state<Compare>('difference'); // how, where there is a baseline
  bands = $state<Spread>('off');
  center = $state<'mean' | 'median'>('mean');
  revealed = $state.raw<ReadonlySet<string>>(new Set()); // groups whose runs are drawn within their band
  yScale = $state.raw<ReadonlyMap<string, Scale>>(new Map()); // of cards; linear where there is none
  percent = $state.raw<ReadonlySet<string>>(new Set()); // cards whose values are shares of one
  zoom = $state.raw<ReadonlyMap<string, Zoom>>(new Map());
  zoomLinked = $state(false); // x of all cards is zoomed alike
  commonX = $state.raw<[number, number] | null>(null); // then that is it
  /** kinds of cards that are shown, by plugin; none: all */
  kinds = $state.raw<ReadonlySet<string>>(new Set());
  tableSort = $state(''); // a column, "-" before it: greatest first
  tall = $state.raw<ReadonlySet<string>>(new Set()); // cards whose table shows all it can

  readonly fields: Field[] = [
    fields.taste(fields.choice('xscale', this, 'xScale', ['linear', 'log', 'symlog'])),
    fields.taste({
      key: 'smooth',
      write: () => (this.chosenSmoothing === null ? '' : String(this.chosenSmoothing)),
      read: (text) => {
        const weight = numberOr(text, NaN);
        this.chosenSmoothing = Number.isNaN(weight) ? null : Math.min(MOST, Math.max(0, weight));
      },
    }),
    fields.taste(fields.choice('filter', this, 'smoothKind', KINDS)),
    { key: 'cardsmooth', write: () => this.writeSmoothing(), read: (text) => this.readSmoothing(text) },
    fields.flag('envelope', this, 'envelope'),
    fields.list('combine', this, 'combined'),
    fields.names('y2', this, 'rightAxis'),
    fields.flag('attempts', this, 'attempts'),
    fields.flag('partition', this, 'partition'),
    fields.taste({
      key: 'outliers',
      write: () => (this.outliers ? '' : 'show'),
      read: (text) => (this.outliers = text !== 'show'),
    }),
    fields.choice('compare', this, 'compare', ['difference', 'off', 'ratio']),
    fields.choice('bands', this, 'bands', ['off', 'std', 'ci95', 'minmax']),
    fields.choice('center', this, 'center', ['mean', 'median']),
    fields.names('members', this, 'revealed'),
    { key: 'logy', write: () => this.writeScale('log'), read: (text) => this.readScale('log', text) },
    { key: 'symlogy', write: () => this.writeScale('symlog'), read: (text) => this.readScale('symlog', text) },
    fields.names('percent', this, 'percent'),
    { key: 'zoom', write: () => this.writeZoom(), read: (text) => this.readZoom(text) },
    {
      key: 'zoomall',
      write: () => (this.zoomLinked ? writeRange(this.commonX) || 'on' : ''),
      read: (text) => {
        this.commonX = readRange(text);
        this.zoomLinked = text === 'on' || this.commonX !== null;
      },
    },
    fields.taste(fields.names('kinds', this, 'kinds')),
    fields.text('tsort', this, 'tableSort'),
    fields.names('tall', this, 'tall'),
  ];

  get smoothing(): number {
    return this.chosenSmoothing ?? USUAL;
  }
  set smoothing(weight: number) {
    this.chosenSmoothing = weight;
  }
  /** Is a card smoothed because nobody said otherwise? */
  isUsual(card: string): boolean {
    return this.chosenSmoothing === null && !this.cardSmoothing.has(card);
  }

  private writeScale(kind: Scale): string {
    return joinList([...this.yScale].filter(([, scale]) => scale === kind).map(([card]) => card));
  }

  private readScale(kind: Scale, text: string): void {
    const next = new Map([...this.yScale].filter(([, scale]) => scale !== kind));
    for (const card of splitList(text)) next.set(card, kind);
    this.yScale = next;
  }

  private writeSmoothing(): string {
    return joinList([...this.cardSmoothing].map(([card, { kind, weight }]) => `${weight}|${kind}|${card}`));
  }

  private readSmoothing(text: string): void {
    const next = new Map<string, CardSmoothing>();
    for (const item of splitList(text)) {
      const found = /^([\d.]+)\|(\w+)\|(.*)$/s.exec(item);
      if (found)
        next.set(found[3], {
          weight: Math.min(0.999, numberOr(found[1], 0.6)),
          kind: oneOf<SmoothKind>(found[2], KINDS, 'ema'),
        });
    }
    this.cardSmoothing = next;
  }

  private writeZoom(): string {
    return joinList([...this.zoom].map(([card, z]) => `${writeRange(z.x)}|${writeRange(z.y)}|${card}`));
  }

  private readZoom(text: string): void {
    const zoom = new Map<string, Zoom>();
    for (const item of splitList(text)) {
      const found = /^([^|]*)\|([^|]*)\|(.*)$/s.exec(item);
      if (!found) continue;
      const z = { x: readRange(found[1]), y: readRange(found[2]) };
      if (z.x || z.y) zoom.set(found[3], z);
    }
    this.zoom = zoom;
  }

  /** Zooms of another axis mean nothing on this one. */
  setX(x: X): void {
    steps.setX(x);
    this.zoom = new Map();
    this.commonX = null;
  }

  /** x and y apart, each the same object as long as it is the same: a zoom of another card must not redraw this one. */
  zoomXOf(card: string): [number, number] | null {
    return this.zoomLinked ? this.commonX : (this.zoom.get(card)?.x ?? null);
  }

  zoomYOf(card: string): [number, number] | null {
    return this.zoom.get(card)?.y ?? null;
  }

  isZoomed(card: string): boolean {
    return this.zoomXOf(card) !== null || this.zoomYOf(card) !== null;
  }

  /** Linked: x of all cards is zoomed as this one is. Apart again: this one stays as it is. */
  toggleZoomLink(card: string): void {
    const x = this.zoomXOf(card);
    const y = this.zoomYOf(card);
    this.zoomLinked = !this.zoomLinked;
    this.commonX = null;
    if (this.zoomLinked)
      this.zoom = new Map([...this.zoom].filter(([, z]) => z.y).map(([tag, z]) => [tag, { x: null, y: z.y }]));
    if (card !== '') this.setZoom(card, { x, y });
  }

  setZoom(card: string, zoom: Zoom | null): void {
    const next = new Map(this.zoom);
    if (this.zoomLinked) {
      this.commonX = zoom?.x ?? null;
      zoom = zoom && { x: null, y: zoom.y };
    }
    if (zoom && (zoom.x || zoom.y)) next.set(card, zoom);
    else next.delete(card);
    this.zoom = next;
  }

  shows(plugin: string): boolean {
    return this.kinds.size === 0 || this.kinds.has(plugin);
  }
  /** All of them is the same as none. */
  toggleKind(plugin: string, all: readonly string[]): void {
    const next = fields.toggled(this.kinds.size === 0 ? new Set(all) : this.kinds, plugin);
    this.kinds = all.every((one) => next.has(one)) ? new Set() : next;
  }

  scaleOf(card: string): Scale {
    return this.yScale.get(card) ?? 'linear';
  }

  setScale(card: string, scale: Scale): void {
    const next = new Map(this.yScale);
    if (scale === 'linear') next.delete(card);
    else next.set(card, scale);
    this.yScale = next;
  }

  toggleLog(card: string): void {
    this.setScale(card, this.scaleOf(card) === 'log' ? 'linear' : 'log');
  }

  smoothingOf(card: string): CardSmoothing {
    return this.cardSmoothing.get(card) ?? { kind: this.smoothKind, weight: this.smoothing };
  }

  setSmoothing(card: string, smoothing: CardSmoothing | null): void {
    const next = new Map(this.cardSmoothing);
    if (smoothing) next.set(card, smoothing);
    else next.delete(card);
    this.cardSmoothing = next;
  }

  toggle(which: 'revealed' | 'rightAxis' | 'tall' | 'percent', name: string): void {
    this[which] = fields.toggled(this[which], name);
  }
}

export const ts = new TimeSeriesView();
view.add(PREFIX, ts.fields, true);
export const grid = new GridView(PREFIX, true);
