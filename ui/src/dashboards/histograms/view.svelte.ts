// The fields of the address that only the histogram dashboard has.
import { fields, joinList, oneOf, splitList, view, type Range } from '../../public';
import { GridView } from '../../rooms/cards/grid.svelte';

export const MODES = ['offset', 'overlay', 'heat', 'runs'] as const;
export type Mode = (typeof MODES)[number];
const PREFIX = 'hist';

class HistogramView {
  mode = $state<Mode>('offset');
  bins = $state(0); // 0 means automatic, by the size of the card
  normalise = $state(true);
  scale = $state<'linear' | 'log'>('linear');
  logY = $state(false);
  /** values of a step that is far from the others do not extend the axis */
  ignoreOutliers = $state(true);
  /** by card: the zoom, and the kind of drawing if it differs from `mode` */
  zoom = $state.raw<ReadonlyMap<string, Range>>(new Map()); // range of steps of a heat map
  cardModes = $state.raw<ReadonlyMap<string, Mode>>(new Map());

  constructor() {
    view.add(PREFIX, [
      fields.taste(fields.choice('mode', this, 'mode', MODES)),
      fields.taste(fields.count('bins', this, 'bins')),
      fields.taste({
        key: 'norm',
        write: () => (this.normalise ? '' : 'off'),
        read: (text) => (this.normalise = text !== 'off'),
      }),
      fields.taste(fields.choice('scale', this, 'scale', ['linear', 'log'])),
      fields.taste(fields.flag('logy', this, 'logY')),
      fields.taste({
        key: 'outliers',
        write: () => (this.ignoreOutliers ? '' : 'show'),
        read: (text) => (this.ignoreOutliers = text !== 'show'),
      }),
      {
        key: 'card',
        write: () => joinList([...this.cardModes].map(([card, mode]) => `${mode}|${card}`)),
        read: (text) => this.readModes(text),
      },
      {
        key: 'zoom',
        write: () => joinList([...this.zoom].map(([card, range]) => `${range[0]}~${range[1]}|${card}`)),
        read: (text) => this.readZoom(text),
      },
    ]);
  }

  private readModes(text: string): void {
    const next = new Map<string, Mode>();
    for (const item of splitList(text)) {
      const at = item.indexOf('|');
      const mode = oneOf(item.slice(0, at), MODES, 'offset');
      if (at > 0) next.set(item.slice(at + 1), mode);
    }
    this.cardModes = next;
  }

  private readZoom(text: string): void {
    const next = new Map<string, Range>();
    for (const item of splitList(text)) {
      const found = /^([^~|]+)~([^~|]+)\|(.*)$/s.exec(item);
      if (found && Number(found[1]) < Number(found[2])) next.set(found[3], [Number(found[1]), Number(found[2])]);
    }
    this.zoom = next;
  }

  setZoom(card: string, range: Range | null): void {
    const next = new Map(this.zoom);
    if (range) next.set(card, range);
    else next.delete(card);
    this.zoom = next;
  }

  /** How a card is drawn. A card of one run has one of three kinds of drawing; a card of a tag shows all its runs. */
  modeOf(card: string): Exclude<Mode, 'runs'> {
    const mode = this.cardModes.get(card) ?? this.mode;
    return mode === 'runs' ? 'offset' : mode;
  }
  setMode(card: string, mode: Mode | null): void {
    const next = new Map(this.cardModes);
    if (mode === null || mode === this.mode) next.delete(card);
    else next.set(card, mode);
    this.cardModes = next;
  }
}

export const histView = new HistogramView();
export const grid = new GridView(PREFIX);
