// The fields of the address that only this dashboard has, and the viewer's own settings, which are not in the address:
// volume and loudness.
import { cardOf, fields, joinList, keep, numberOr, splitList, view } from '../../public';
import { GridView } from '../../rooms/cards/grid.svelte';

const PREFIX = 'audio';

export type Show = 'both' | 'wave' | 'spectrum';
export type Scale = 'mel' | 'linear';
export const FLOORS = ['80', '60', '100', '120'] as const;
export const SPEEDS = ['1', '0.5', '0.75', '1.25', '1.5', '2'] as const;

/** One side of a comparison: a card, and the step that it showed when it was chosen. */
export interface Side {
  card: string;
  step: number;
}
export type SideName = 'a' | 'b';
/** Start and end in seconds. */
export type Stretch = readonly [number, number];

class AudioView {
  show = $state<Show>('both');
  scale = $state<Scale>('mel');
  floor = $state<(typeof FLOORS)[number]>('80');
  speed = $state<(typeof SPEEDS)[number]>('1');
  loop = $state(false);
  /** the range that is looped; null means the whole clip */
  range = $state.raw<Stretch | null>(null);
  a = $state.raw<Side | null>(null);
  b = $state.raw<Side | null>(null);
  private samples = $state.raw<ReadonlyMap<string, number>>(new Map());

  constructor() {
    view.add(PREFIX, [
      fields.taste(fields.choice('show', this, 'show', ['both', 'wave', 'spectrum'])),
      fields.taste(fields.choice('scale', this, 'scale', ['mel', 'linear'])),
      fields.taste(fields.choice('floor', this, 'floor', FLOORS)),
      fields.choice('speed', this, 'speed', SPEEDS),
      fields.flag('loop', this, 'loop'),
      {
        key: 'range',
        write: () => this.range?.map((s) => s.toFixed(3)).join('-') ?? '',
        read: (text) => {
          const [from, to] = text.split('-').map((s) => numberOr(s, NaN));
          this.range = from >= 0 && to > from ? [from, to] : null;
        },
      },
      ...(['a', 'b'] as const).map((name) => ({
        key: name,
        write: () => {
          const side = this[name];
          return side ? joinList([side.card, String(side.step)]) : '';
        },
        read: (text: string) => {
          const [card = '', step] = splitList(text);
          this[name] = card.startsWith('!') && cardOf(card).run ? { card, step: numberOr(step ?? '', 0) } : null;
        },
      })),
      {
        key: 'sample',
        write: () => joinList([...this.samples].map(([tag, k]) => `${k}|${tag}`)),
        read: (text) => {
          const found = splitList(text).flatMap((item) => /^(\d{1,6})\|(.*)$/s.exec(item) ?? []);
          const next = new Map<string, number>();
          for (let i = 0; i + 2 < found.length; i += 3) next.set(found[i + 2], Number(found[i + 1]));
          this.samples = next;
        },
      },
    ]);
  }

  /** The index of the sample that is shown, out of those of a step. It is common to all runs of a tag. */
  sampleOf(tag: string): number {
    return this.samples.get(tag) ?? 0;
  }
  setSample(tag: string, k: number): void {
    const next = new Map(this.samples);
    if (k > 0) next.set(tag, k);
    else next.delete(tag);
    this.samples = next;
  }

  /** The sides of the comparison that show this card. */
  sidesOf(card: string): SideName[] {
    return (['a', 'b'] as const).filter((name) => this[name]?.card === card);
  }
  /** Puts a card's clip on one side of the comparison, or removes it if it is there already. */
  mark(name: SideName, card: string, step: number): void {
    const side = this[name];
    this[name] = side?.card === card && side.step === step ? null : { card, step };
  }
  /** Are two steps of the same card compared? Then both sides keep their steps, whatever step the card shows. */
  get isOfSteps(): boolean {
    return this.a !== null && this.a.card === this.b?.card;
  }
}

class AudioSettings {
  volume = $state(1);
  muted = $state(false);
  /** play loud clips more quietly, so that all are equally loud */
  match = $state(true);

  constructor() {
    keep(PREFIX, this, ['volume', 'muted', 'match'], (name, value) => name !== 'volume' || Number(value) <= 1);
  }
}

export const audioView = new AudioView();
export const audioSettings = new AudioSettings();
export const grid = new GridView(PREFIX);
