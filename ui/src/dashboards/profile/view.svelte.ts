// The fields of the address: which capture and which page, and what is visible and selected in the timeline.
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
/** Advice that was concluded from slices. */
export const ADVICE = ['', 'input', 'communication', 'launch', 'copies', 'sync', 'compile', 'straggler'] as const;
export type Advice = (typeof ADVICE)[number];
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

/** What a table shows: the column that it is sorted by ("-" before it: descending; "": its own order), and the text to find. */
export class TableView {
  sort = $state('');
  find = $state('');
}
export const DIFFER_BY = ['operators', 'kernels', 'modules'] as const;

class ProfileView {
  /** id of the capture; "": the newest one */
  capture = $state('');
  other = $state(''); // id of the capture that it is compared with
  page = $state<Page>('overview');
  /** visible time range; null: the whole capture */
  window = $state.raw<Span | null>(null);
  /** selected range */
  range = $state.raw<Span | null>(null);
  slice = $state.raw<SliceId | null>(null);
  query = $state('');
  /** the advice whose slices are the results, instead of a search */
  advice = $state<Advice>('');
  /** does the search also look into arguments? */
  inArgs = $state(false);
  pinned = $state.raw<readonly string[]>([]); // ids of tracks
  folded = $state.raw<readonly string[]>([]); // ids of groups
  opened = $state.raw<readonly string[]>([]); // ids of tracks that show all of their lanes
  flows = $state<(typeof FLOWS)[number]>('selected');
  /** index of the step whose critical path is shown; "": none */
  path = $state('');
  by = $state<(typeof BY)[number]>('name');
  /** the scalar in the chart below the captures; "": the most likely one */
  metric = $state('');
  /** name of the slices that are taken as steps; "": the server finds the steps */
  steps = $state('');
  // what the tables show
  readonly operators = new TableView();
  readonly kernels = new TableView();
  readonly modules = new TableView();
  readonly difference = new TableView();
  readonly totals = new TableView(); // of the selected range
  /** are only pinned tracks summed? */
  onlyPinned = $state(false);
  /** whose time the operators are sorted by; "": that of the device, if there is one */
  whose = $state<'' | 'device' | 'host'>('');
  byShape = $state(false);
  closed = $state.raw<readonly string[]>([]); // modules whose inner modules are hidden: their places in the table
  memory = $state(''); // id of the device whose memory is shown; "": the one with the highest peak
  differBy = $state<(typeof DIFFER_BY)[number]>('operators');
  // kept for the viewer, not in the address
  side = $state<'captures' | 'tracks'>('tracks'); // what the left panel shows beside the timeline
  below = $state(240); // height of the drawer below the timeline

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
      fields.choice('advice', this, 'advice', ADVICE),
      fields.list('pinned', this, 'pinned'),
      fields.list('folded', this, 'folded'),
      fields.list('opened', this, 'opened'),
      fields.choice('flows', this, 'flows', FLOWS),
      fields.text('path', this, 'path'),
      fields.choice('by', this, 'by', BY),
      fields.text('totals.sort', this.totals, 'sort'),
      fields.flag('totals.pinned', this, 'onlyPinned'),
      fields.text('steps', this, 'steps'),
      fields.text('metric', this, 'metric'),
      ...(['operators', 'kernels', 'modules', 'difference'] as const).flatMap((table) => [
        fields.text(`${table}.sort`, this[table], 'sort'),
        fields.text(`${table}.find`, this[table], 'find'),
      ]),
      fields.choice('whose', this, 'whose', ['', 'device', 'host']),
      fields.flag('shape', this, 'byShape'),
      fields.list('closed', this, 'closed'),
      fields.text('memory', this, 'memory'),
      fields.choice('differ', this, 'differBy', DIFFER_BY),
    ]);
    keep(PREFIX, this, ['side', 'below']);
  }

  /** Chooses another capture. Times, tracks and slices of the old one are cleared: they mean nothing in it. */
  choose(capture: string): void {
    this.capture = capture;
    this.window = this.range = this.slice = null;
    this.query = this.steps = this.path = this.memory = this.whose = '';
    this.advice = '';
    this.inArgs = this.onlyPinned = false;
    this.pinned = this.folded = this.opened = this.closed = [];
    if (this.other === capture) this.other = '';
  }
  /** Is anything chosen that means nothing in another capture? */
  readonly isOfCapture = $derived.by(
    () =>
      this.window !== null ||
      this.range !== null ||
      this.slice !== null ||
      [this.query, this.advice, this.steps, this.path, this.memory, this.other].some((text) => text !== '') ||
      [this.pinned, this.folded, this.opened, this.closed].some((list) => list.length > 0),
  );
  togglePin(track: number): void {
    this.pinned = toggled(this.pinned, track);
  }
  toggleLanes(track: number): void {
    this.opened = toggled(this.opened, track);
  }
  toggleGroup(group: number): void {
    this.folded = toggled(this.folded, group);
  }
}

export const profileView = new ProfileView();
