// What the address says of profiles: which capture, which page of it, what of the timeline is in sight and selected.
import { fields, keep, numberOr, view, type Field } from '../../public';

const PREFIX = 'profile';
export const PAGES = [
  'overview',
  'timeline',
  'operators',
  'kernels',
  'memory',
  'input',
  'modules',
  'distributed',
  'difference',
] as const;
export type Page = (typeof PAGES)[number];
export const FLOWS = ['selected', 'all', 'none'] as const;
export const BY = ['name', 'kind', 'track', 'group'] as const;

/** From and to in picoseconds. */
export type Span = readonly [number, number];
/** A slice: its track and its number in it. */
export type SliceId = readonly [number, number];

const pair = <P extends string>(key: string, of: Record<P, readonly [number, number] | null>, name: P): Field => ({
  key,
  write: () => of[name]?.map((v) => Math.round(v)).join('~') ?? '',
  read: (text) => {
    const [a, b] = text.split('~').map((part) => numberOr(part, NaN));
    of[name] = Number.isFinite(a) && Number.isFinite(b) ? [a, b] : null;
  },
});

function toggled(list: readonly string[], id: number): readonly string[] {
  const key = String(id);
  return list.includes(key) ? list.filter((other) => other !== key) : [...list, key];
}

class ProfileView {
  /** its id; "": the newest */
  capture = $state('');
  other = $state(''); // compared with
  page = $state<Page>('overview');
  /** in sight; null: all of it */
  window = $state.raw<Span | null>(null);
  /** selected range */
  range = $state.raw<Span | null>(null);
  slice = $state.raw<SliceId | null>(null);
  query = $state('');
  /** is the query looked for in arguments too? */
  inArgs = $state(false);
  pinned = $state.raw<readonly string[]>([]); // ids of tracks
  folded = $state.raw<readonly string[]>([]); // ids of groups
  flows = $state<(typeof FLOWS)[number]>('selected');
  /** the step whose critical path is shown, by its place among the steps; "": none */
  path = $state('');
  by = $state<(typeof BY)[number]>('name');
  /** the scalar whose line is beside the captures; "": the likeliest */
  metric = $state('');
  /** the name of the slices that are steps; "": as the server finds them */
  steps = $state('');
  // of the viewer
  side = $state<'captures' | 'tracks'>('tracks'); // what is beside the timeline
  drawer = $state(240); // height of what is below the timeline

  constructor() {
    view.add(PREFIX, [
      fields.text('capture', this, 'capture'),
      fields.text('other', this, 'other'),
      fields.choice('page', this, 'page', PAGES),
      pair('window', this, 'window'),
      pair('range', this, 'range'),
      pair('slice', this, 'slice'),
      fields.text('find', this, 'query'),
      fields.flag('args', this, 'inArgs'),
      fields.list('pinned', this, 'pinned'),
      fields.list('folded', this, 'folded'),
      fields.choice('flows', this, 'flows', FLOWS),
      fields.text('path', this, 'path'),
      fields.choice('by', this, 'by', BY),
      fields.text('steps', this, 'steps'),
      fields.text('metric', this, 'metric'),
    ]);
    keep(PREFIX, this, ['side', 'drawer']);
  }

  /** Another capture: times, tracks and slices mean nothing in it. */
  choose(capture: string): void {
    this.capture = capture;
    this.window = this.range = this.slice = null;
    this.query = this.steps = this.path = '';
    this.inArgs = false;
    this.pinned = this.folded = [];
    if (this.other === capture) this.other = '';
  }
  togglePin(track: number): void {
    this.pinned = toggled(this.pinned, track);
  }
  toggleGroup(group: number): void {
    this.folded = toggled(this.folded, group);
  }
}

export const profileView = new ProfileView();
