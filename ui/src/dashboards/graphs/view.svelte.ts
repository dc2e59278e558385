// The fields of the address that only the graph dashboard has.
import { fields, joinList, keep, splitList, view } from '../../public';

const PREFIX = 'graphs';
export const COLOURS = ['none', 'structure', 'device', 'cluster', 'time', 'memory', 'tpu'] as const;
export type Colouring = (typeof COLOURS)[number];

class GraphView {
  /** names of the run and of the tag; "" means the default, which GraphState chooses */
  run = $state('');
  tag = $state('');
  /** the tag of the run statistics; "" means the last one, "-" none */
  stats = $state('');
  /** name of the run whose graph is compared with this one */
  other = $state('');
  /** devices whose measurements are excluded */
  skip = $state.raw<readonly string[]>([]);
  /** the id of an uploaded file on the server, and the name of the file */
  file = $state('');
  fileName = $state('');
  /** names of open boxes; null means that the server chooses them */
  open = $state.raw<readonly string[] | null>(null);
  at = $state(''); // name of the selected box
  path = $state(''); // name of the other end of the path
  trace = $state(false);
  colour = $state<Colouring>('none');
  ungrouped = $state.raw<readonly string[]>([]);
  main = $state.raw<readonly string[]>([]);
  side = $state.raw<readonly string[]>([]);
  keepAll = $state(false); // nodes that many others use stay in the graph, and are not moved to the auxiliary list
  constants = $state(false);
  query = $state('');
  regex = $state(false);
  // not in the address: a setting of the viewer
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

  /** Clears what belongs to one graph (open, selected and moved boxes), when another graph is shown. */
  forget(): void {
    this.open = null;
    this.at = this.path = '';
    this.trace = false;
    this.ungrouped = this.main = this.side = [];
  }
}

export const graphView = new GraphView();
