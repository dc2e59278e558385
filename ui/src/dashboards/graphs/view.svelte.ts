// What the address says of graphs.
import { fields, joinList, keep, splitList, view } from '../../public';

const PREFIX = 'graphs';
export const COLOURS = ['none', 'structure', 'device', 'cluster', 'time', 'memory', 'tpu'] as const;
export type Colouring = (typeof COLOURS)[number];

class GraphView {
  /** names; "": the first that has a graph */
  run = $state('');
  tag = $state('');
  /** tag of measurements; "": the first, "-": none */
  stats = $state('');
  /** the run it is compared with */
  other = $state('');
  /** devices whose measurements don't count */
  skip = $state.raw<readonly string[]>([]);
  /** a file that the server has, and its name */
  file = $state('');
  fileName = $state('');
  /** names of open boxes; null: what the server opens by itself */
  open = $state.raw<readonly string[] | null>(null);
  at = $state(''); // the selected box
  path = $state(''); // the other end of the path
  trace = $state(false);
  colour = $state<Colouring>('none');
  ungrouped = $state.raw<readonly string[]>([]);
  main = $state.raw<readonly string[]>([]);
  side = $state.raw<readonly string[]>([]);
  keepAll = $state(false); // nodes that many use stay in the graph
  constants = $state(false);
  query = $state('');
  regex = $state(false);
  // of the viewer
  labels = $state(true);

  constructor() {
    view.add(PREFIX, [
      fields.text('run', this, 'run'),
      fields.text('tag', this, 'tag'),
      fields.text('stats', this, 'stats'),
      fields.text('other', this, 'other'),
      fields.list('skip', this, 'skip'),
      fields.text('file', this, 'file'),
      fields.text('name', this, 'fileName'),
      {
        key: 'open',
        write: () => (this.open ? joinList(this.open) || ',' : ''),
        read: (text) => (this.open = text === '' ? null : splitList(text).filter((name) => name !== '')),
      },
      fields.text('at', this, 'at'),
      fields.text('path', this, 'path'),
      fields.flag('trace', this, 'trace'),
      fields.taste(fields.choice('colour', this, 'colour', COLOURS)),
      fields.list('ungrouped', this, 'ungrouped'),
      fields.list('main', this, 'main'),
      fields.list('side', this, 'side'),
      fields.flag('extract', this, 'keepAll', 'off'),
      fields.flag('constants', this, 'constants'),
      fields.text('find', this, 'query'),
      fields.flag('regex', this, 'regex'),
    ]);
    keep(PREFIX, this, ['labels']);
  }

  /** Another graph: what was open, selected and moved means nothing in it. */
  forget(): void {
    this.open = null;
    this.at = this.path = '';
    this.trace = false;
    this.ungrouped = this.main = this.side = [];
  }
}

export const graphView = new GraphView();
