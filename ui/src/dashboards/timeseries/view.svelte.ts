// The fields of the address that only the time series dashboard has: smoothing, scales, zoom, bands, comparison, cards of
// several tags, tables below charts. Cards are identified by their keys (base/address/card.ts).
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
const USUAL = 0.6; // default smoothing, the same as in TensorBoard
const MOST = 0.999;
const KINDS: readonly [SmoothKind, ...SmoothKind[]] = ['ema', 'time_ema', 'window', 'gaussian', 'median'];

const writeRange = (r: [number, number] | null) => (r ? `${r[0]}~${r[1]}` : '');
function readRange(text: string): [number, number] | null {
  const ends = text.split('~').map(Number);
  return ends.length === 2 && ends.every(Number.isFinite) && ends[0] < ends[1] ? [ends[0], ends[1]] : null;
}

export class TimeSeriesView {
  xScale = $state<Scale>('linear');
  /** null if the viewer has not chosen one */
  private chosenSmoothing = $state<number | null>(null);
  smoothKind = $state<SmoothKind>('ema');
  outliers = $state(true);
  cardSmoothing = $state.raw<ReadonlyMap<string, CardSmoothing>>(new Map()); // smoothing of single cards
  envelope = $state(false);
  combined = $state.raw<readonly string[]>([]); // cards of several tags
  rightAxis = $state.raw<ReadonlySet<string>>(new Set()); // cards that have a second y axis
  attempts = $state(false); // also draw points that a restarted run has logged again later
  partition = $state(false); // if the steps of a run went back, each part is a line of its own
  compare = $state<Compare>('difference'); // how runs are compared with the baseline, if there is one
  bands = $state<Spread>('off');
  center = $state<'mean' | 'median'>('mean');
  revealed = $state.raw<ReadonlySet<string>>(new Set()); // groups whose runs are drawn in addition to their band
  yScale = $state.raw<ReadonlyMap<string, Scale>>(new Map()); // by card; linear by default
  percent = $state.raw<ReadonlySet<string>>(new Set()); // cards that show their values as percentages
  zoom = $state.raw<ReadonlyMap<string, Zoom>>(new Map());
  zoomLinked = $state(false); // all cards share the zoom of x
  commonX = $state.raw<[number, number] | null>(null); // the zoom of x, if it is shared
  /** plugins whose cards are shown; an empty set means all */
  kinds = $state.raw<ReadonlySet<string>>(new Set());
  tableSort = $state(''); // a column id; with "-" before it, in descending order
  tall = $state.raw<ReadonlySet<string>>(new Set()); // cards whose table is as high as all of its rows need

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
  /** Is the card smoothed only by default, because the viewer has chosen nothing? */
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

  /** Changes the x axis. Zooms are removed, because ranges of another axis mean nothing on this one. */
  setX(x: X): void {
    steps.setX(x);
    this.zoom = new Map();
    this.commonX = null;
  }

  /**
   * The zoom of x, and below that of y. Each is the same object until it changes, so that a zoom of another card does not
   * redraw this one.
   */
  zoomXOf(card: string): [number, number] | null {
    return this.zoomLinked ? this.commonX : (this.zoom.get(card)?.x ?? null);
  }

  zoomYOf(card: string): [number, number] | null {
    return this.zoom.get(card)?.y ?? null;
  }

  isZoomed(card: string): boolean {
    return this.zoomXOf(card) !== null || this.zoomYOf(card) !== null;
  }

  /**
   * Links or unlinks the zoom of x. When linked, all cards get the zoom of this card. When unlinked, this card keeps its
   * zoom.
   */
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
  /** Shows or hides a kind of cards. All kinds are stored as an empty set. */
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
