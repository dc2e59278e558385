// The view: everything that decides what is shown, as state that is also the address. encode() and decode() are the
// whole of it, so a step of undo is two addresses and a saved view is one of them.
import { isX, type X } from '../base/axis';
import { formatHash, fromTensorBoard, joinList, parseHash, splitList, TAB_OF, withoutTensorBoard } from '../base/hash';
import { readPlaces, writePlaces, type Places } from '../base/place';
import { isTrivial, readWhere, writeWhere, type ColumnFilter, type Where } from '../base/where';
import type { SmoothKind } from '../data/types';
import { History, type Step } from './history';

export interface Zoom {
  x: [number, number] | null;
  y: [number, number] | null;
}
export type Scale = 'linear' | 'log' | 'symlog';
export interface CardSmoothing {
  kind: SmoothKind;
  weight: number;
}
export type Compare = 'off' | 'difference' | 'ratio';
/** Is there a table under each chart, of one place or of a range? */
export type Selecting = 'off' | 'step' | 'range';
export type Spread = 'off' | 'std' | 'ci95' | 'minmax';

const KINDS: SmoothKind[] = ['ema', 'time_ema', 'window', 'gaussian', 'median'];
const number = (text: string, fallback: number) =>
  Number.isFinite(Number(text)) && text !== '' ? Number(text) : fallback;
const one = <T extends string>(text: string, allowed: readonly T[], fallback: T): T =>
  (allowed as readonly string[]).includes(text) ? (text as T) : fallback;

const writeRange = (r: [number, number] | null) => (r ? `${r[0]}~${r[1]}` : '');
function readRange(text: string): [number, number] | null {
  const ends = text.split('~').map(Number);
  return ends.length === 2 && ends.every(Number.isFinite) && ends[0] < ends[1] ? [ends[0], ends[1]] : null;
}

interface Field {
  key: string;
  write(): string; // "" is the default, and left out
  read(text: string): void; // "" sets the default
}

export class View {
  tab = $state('timeseries');
  // runs
  runFilter = $state('');
  hidden = $state.raw<ReadonlySet<string>>(new Set());
  only = $state.raw<ReadonlySet<string> | null>(null);
  group = $state('');
  colour = $state('run');
  sort = $state('');
  descending = $state(false);
  columns = $state.raw<string[] | null>(null);
  /** groups and folders that are shut; those that are open when allFolded */
  folded = $state.raw<ReadonlySet<string>>(new Set());
  allFolded = $state(false);
  /** only the first so many of the sorted runs; 0: all */
  top = $state(0);
  where = $state.raw<Where>(new Map());
  /** the run that others are compared with, by name */
  baseline = $state('');
  compare = $state<Compare>('difference'); // how, where there is a baseline
  /** the run whose details are open, by name */
  details = $state('');
  tableFull = $state(false);
  // time series
  tagFilter = $state('');
  x = $state<X>('step');
  xScale = $state<Scale>('linear');
  smoothing = $state(0.6);
  smoothKind = $state<SmoothKind>('ema');
  outliers = $state(true);
  cardSmoothing = $state.raw<ReadonlyMap<string, CardSmoothing>>(new Map()); // of cards that have their own
  envelope = $state(false);
  combined = $state.raw<string[]>([]); // cards of several tags
  rightAxis = $state.raw<ReadonlySet<string>>(new Set()); // those with a second y axis
  pair = $state(false); // training and validation in one card, in one colour
  attempts = $state(false); // also what a restart went over again
  partition = $state(false); // a line for each part of a run whose steps go back
  bands = $state<Spread>('off');
  center = $state<'mean' | 'median'>('mean');
  revealed = $state.raw<ReadonlySet<string>>(new Set()); // groups whose runs are drawn within their band
  pins = $state.raw<string[]>([]);
  yScale = $state.raw<ReadonlyMap<string, Scale>>(new Map()); // of cards; linear where there is none
  wide = $state.raw<ReadonlySet<string>>(new Set());
  closed = $state.raw<ReadonlySet<string>>(new Set());
  zoom = $state.raw<ReadonlyMap<string, Zoom>>(new Map());
  zoomLinked = $state(false); // x of all cards is zoomed alike
  commonX = $state.raw<[number, number] | null>(null); // then that is it
  percent = $state.raw<ReadonlySet<string>>(new Set()); // cards whose values are shares of one
  selecting = $state<Selecting>('off');
  linked = $state(false); // one selection for all cards
  places = $state.raw<Places>(new Map());
  tableSort = $state(''); // a column, "-" before it: greatest first
  tall = $state.raw<ReadonlySet<string>>(new Set()); // cards whose table shows all it can
  emptyCards = $state(false); // also cards that none of the shown runs has
  pages = $state.raw<ReadonlyMap<string, number>>(new Map()); // of groups, where they have pages
  full = $state('');
  perRow = $state(0);

  private readonly fields: Field[] = [
    { key: 'runs', write: () => this.runFilter, read: (t) => (this.runFilter = t) },
    { key: 'hide', write: () => joinList(this.hidden), read: (t) => (this.hidden = new Set(splitList(t))) },
    {
      key: 'only',
      write: () => (this.only ? joinList(this.only) || ',' : ''),
      read: (t) => (this.only = t === '' ? null : new Set(splitList(t).filter((n) => n !== ''))),
    },
    { key: 'group', write: () => this.group, read: (t) => (this.group = t) },
    { key: 'colour', write: () => (this.colour === 'run' ? '' : this.colour), read: (t) => (this.colour = t || 'run') },
    {
      key: 'sort',
      write: () => (this.sort ? (this.descending ? '-' : '') + this.sort : ''),
      read: (t) => {
        this.descending = t.startsWith('-');
        this.sort = t.replace(/^-/, '');
      },
    },
    {
      key: 'cols',
      write: () => (this.columns ? joinList(this.columns) || ',' : ''),
      read: (t) => (this.columns = t === '' ? null : splitList(t).filter((n) => n !== '')),
    },
    { key: 'fold', write: () => joinList(this.folded), read: (t) => (this.folded = new Set(splitList(t))) },
    { key: 'folds', write: () => (this.allFolded ? 'all' : ''), read: (t) => (this.allFolded = t === 'all') },
    {
      key: 'top',
      write: () => (this.top ? String(this.top) : ''),
      read: (t) => (this.top = Math.max(0, Math.floor(number(t, 0)))),
    },
    { key: 'where', write: () => writeWhere(this.where), read: (t) => (this.where = readWhere(t)) },
    {
      key: 'compare',
      write: () => (this.compare === 'difference' ? '' : this.compare),
      read: (t) => (this.compare = one<Compare>(t, ['off', 'difference', 'ratio'], 'difference')),
    },
    { key: 'base', write: () => this.baseline, read: (t) => (this.baseline = t) },
    { key: 'details', write: () => this.details, read: (t) => (this.details = t) },
    { key: 'table', write: () => (this.tableFull ? 'full' : ''), read: (t) => (this.tableFull = t === 'full') },
    { key: 'tags', write: () => this.tagFilter, read: (t) => (this.tagFilter = t) },
    {
      key: 'x',
      write: () => (this.x === 'step' ? '' : this.x),
      read: (t) => (this.x = isX(t) ? t : 'step'),
    },
    {
      key: 'xscale',
      write: () => (this.xScale === 'linear' ? '' : this.xScale),
      read: (t) => (this.xScale = one<Scale>(t, ['linear', 'log', 'symlog'], 'linear')),
    },
    {
      key: 'smooth',
      write: () => (this.smoothing === 0.6 ? '' : String(this.smoothing)),
      read: (t) => (this.smoothing = Math.min(0.999, Math.max(0, number(t, 0.6)))),
    },
    {
      key: 'filter',
      write: () => (this.smoothKind === 'ema' ? '' : this.smoothKind),
      read: (t) => (this.smoothKind = one<SmoothKind>(t, KINDS, 'ema')),
    },
    { key: 'cardsmooth', write: () => this.writeSmoothing(), read: (t) => this.readSmoothing(t) },
    { key: 'envelope', write: () => (this.envelope ? 'on' : ''), read: (t) => (this.envelope = t === 'on') },
    { key: 'combine', write: () => joinList(this.combined), read: (t) => (this.combined = splitList(t)) },
    { key: 'y2', write: () => joinList(this.rightAxis), read: (t) => (this.rightAxis = new Set(splitList(t))) },
    { key: 'pair', write: () => (this.pair ? 'on' : ''), read: (t) => (this.pair = t === 'on') },
    { key: 'attempts', write: () => (this.attempts ? 'on' : ''), read: (t) => (this.attempts = t === 'on') },
    { key: 'partition', write: () => (this.partition ? 'on' : ''), read: (t) => (this.partition = t === 'on') },
    { key: 'outliers', write: () => (this.outliers ? '' : 'show'), read: (t) => (this.outliers = t !== 'show') },
    {
      key: 'bands',
      write: () => (this.bands === 'off' ? '' : this.bands),
      read: (t) => (this.bands = one<Spread>(t, ['off', 'std', 'ci95', 'minmax'], 'off')),
    },
    {
      key: 'center',
      write: () => (this.center === 'mean' ? '' : this.center),
      read: (t) => (this.center = t === 'median' ? 'median' : 'mean'),
    },
    { key: 'members', write: () => joinList(this.revealed), read: (t) => (this.revealed = new Set(splitList(t))) },
    { key: 'pins', write: () => joinList(this.pins), read: (t) => (this.pins = splitList(t)) },
    { key: 'logy', write: () => this.writeScale('log'), read: (t) => this.readScale('log', t) },
    { key: 'symlogy', write: () => this.writeScale('symlog'), read: (t) => this.readScale('symlog', t) },
    { key: 'wide', write: () => joinList(this.wide), read: (t) => (this.wide = new Set(splitList(t))) },
    { key: 'closed', write: () => joinList(this.closed), read: (t) => (this.closed = new Set(splitList(t))) },
    { key: 'zoom', write: () => this.writeZoom(), read: (t) => this.readZoom(t) },
    {
      key: 'zoomall',
      write: () => (this.zoomLinked ? writeRange(this.commonX) || 'on' : ''),
      read: (t) => {
        this.commonX = readRange(t);
        this.zoomLinked = t === 'on' || this.commonX !== null;
      },
    },
    { key: 'percent', write: () => joinList(this.percent), read: (t) => (this.percent = new Set(splitList(t))) },
    {
      key: 'select',
      write: () => (this.selecting === 'off' ? '' : this.selecting),
      read: (t) => (this.selecting = one<Selecting>(t, ['off', 'step', 'range'], 'off')),
    },
    { key: 'link', write: () => (this.linked ? 'on' : ''), read: (t) => (this.linked = t === 'on') },
    {
      key: 'at',
      write: () => joinList(writePlaces(this.places)),
      read: (t) => (this.places = readPlaces(splitList(t))),
    },
    { key: 'tsort', write: () => this.tableSort, read: (t) => (this.tableSort = t) },
    { key: 'tall', write: () => joinList(this.tall), read: (t) => (this.tall = new Set(splitList(t))) },
    { key: 'empty', write: () => (this.emptyCards ? 'show' : ''), read: (t) => (this.emptyCards = t === 'show') },
    {
      key: 'page',
      write: () => joinList([...this.pages].map(([group, page]) => `${page}|${group}`)),
      read: (t) => this.readPages(t),
    },
    { key: 'full', write: () => this.full, read: (t) => (this.full = t) },
    { key: 'row', write: () => (this.perRow ? String(this.perRow) : ''), read: (t) => (this.perRow = number(t, 0)) },
  ];

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
          weight: Math.min(0.999, number(found[1], 0.6)),
          kind: one<SmoothKind>(found[2], KINDS, 'ema'),
        });
    }
    this.cardSmoothing = next;
  }

  private readPages(text: string): void {
    const next = new Map<string, number>();
    for (const item of splitList(text)) {
      const found = /^(\d{1,6})\|(.*)$/s.exec(item);
      if (found && Number(found[1]) > 1) next.set(found[2], Number(found[1]));
    }
    this.pages = next;
  }

  private writeZoom(): string {
    const items: string[] = [];
    for (const [tag, z] of this.zoom) {
      items.push(`${writeRange(z.x)}|${writeRange(z.y)}|${tag}`);
    }
    return joinList(items);
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

  /** What differs from the defaults, by key. */
  values(): Map<string, string> {
    const values = new Map<string, string>();
    for (const field of this.fields) {
      const text = field.write();
      if (text !== '') values.set(field.key, text);
    }
    return values;
  }

  encode(): string {
    const values = this.values();
    // a view of nothing but defaults says one of them: an address without a view is open to tastes
    if (values.size === 0) values.set('smooth', String(this.smoothing));
    return formatHash({ tab: this.tab, values });
  }

  decode(hash: string): void {
    const { tab, values } = parseHash(hash);
    this.tab = TAB_OF[tab] ?? tab;
    for (const field of this.fields) field.read(values.get(field.key) ?? '');
  }

  /** From the address the page was opened with; TensorBoard's keys are turned into ours and taken off. */
  open(
    location: { hash: string; search: string },
    tastes: ReadonlyMap<string, string> = new Map(),
  ): { hash: string; search: string } {
    const hash = parseHash(location.hash);
    for (const [key, value] of fromTensorBoard(new URLSearchParams(location.search), hash))
      if (!hash.values.has(key)) hash.values.set(key, value);
    if (hash.values.size === 0) for (const [key, value] of tastes) hash.values.set(key, value);
    this.decode(formatHash(hash));
    return { hash: this.encode(), search: withoutTensorBoard(location.search) };
  }

  // ---- undo ----

  private readonly history = new History();
  private present = '';

  /** Called with each new address; remembers the one before. */
  note(hash: string): void {
    const before = this.present;
    if (hash === before) return;
    if (before) this.history.push({ undo: () => this.go(before), redo: () => this.go(hash) });
    this.present = hash;
  }

  private go(hash: string): void {
    this.present = hash;
    this.decode(hash);
  }

  /** A change that is not in the address, such as a run's name: it is undone in its turn. */
  did(step: Step): void {
    this.note(this.encode());
    this.history.push(step);
  }

  undo(step?: Step): boolean {
    this.note(this.encode());
    return this.history.undo(step);
  }

  redo(): boolean {
    return this.history.redo();
  }

  // ---- small changes that several places make ----

  /** Places and zooms of another axis mean nothing on this one. */
  setX(x: X): void {
    this.x = x;
    this.zoom = new Map();
    this.commonX = null;
    this.places = new Map();
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

  setZoom(tag: string, zoom: Zoom | null): void {
    const next = new Map(this.zoom);
    if (this.zoomLinked) {
      this.commonX = zoom?.x ?? null;
      zoom = zoom && { x: null, y: zoom.y };
    }
    if (zoom && (zoom.x || zoom.y)) next.set(tag, zoom);
    else next.delete(tag);
    this.zoom = next;
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

  setPage(group: string, page: number): void {
    const next = new Map(this.pages);
    if (page > 1) next.set(group, page);
    else next.delete(group);
    this.pages = next;
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

  toggleLog(card: string): void {
    this.setScale(card, this.scaleOf(card) === 'log' ? 'linear' : 'log');
  }

  setFilter(column: string, filter: ColumnFilter): void {
    const next = new Map(this.where);
    if (isTrivial(filter)) next.delete(column);
    else next.set(column, filter);
    this.where = next;
  }

  isFolded(key: string): boolean {
    return this.folded.has(key) !== this.allFolded;
  }

  togglePin(tag: string): void {
    this.pins = this.pins.includes(tag) ? this.pins.filter((t) => t !== tag) : [...this.pins, tag];
  }

  toggle(
    which: 'wide' | 'revealed' | 'rightAxis' | 'closed' | 'folded' | 'hidden' | 'tall' | 'percent',
    name: string,
  ): void {
    const next = new Set(this[which]);
    if (!next.delete(name)) next.add(name);
    this[which] = next;
  }
}

export const view = new View();
