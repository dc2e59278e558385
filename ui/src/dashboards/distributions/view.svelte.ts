// The fields of the address that only the distributions dashboard has.
import { fields, joinList, splitList, view, type Range } from '../../public';
import { GridView } from '../../rooms/cards/grid.svelte';

const PREFIX = 'dist';
export interface Zoom {
  x: Range | null;
  y: Range | null;
}
const writeRange = (range: Range | null) => (range ? `${range[0]}~${range[1]}` : '');
function readRange(text: string): Range | null {
  const ends = text.split('~').map(Number);
  return ends.length === 2 && ends.every(Number.isFinite) && ends[0] < ends[1] ? [ends[0], ends[1]] : null;
}

class DistributionView {
  layout = $state<'side' | 'together'>('side');
  sameY = $state(true);
  scale = $state<'linear' | 'symlog'>('linear');
  allBands = $state(true);
  zoom = $state.raw<ReadonlyMap<string, Zoom>>(new Map());

  constructor() {
    view.add(PREFIX, [
      fields.taste(fields.choice('layout', this, 'layout', ['side', 'together'])),
      fields.taste({
        key: 'y',
        write: () => (this.sameY ? '' : 'own'),
        read: (text) => (this.sameY = text !== 'own'),
      }),
      fields.taste(fields.choice('scale', this, 'scale', ['linear', 'symlog'])),
      fields.taste({
        key: 'bands',
        write: () => (this.allBands ? '' : 'middle'),
        read: (text) => (this.allBands = text !== 'middle'),
      }),
      {
        key: 'zoom',
        write: () => joinList([...this.zoom].map(([card, z]) => `${writeRange(z.x)}|${writeRange(z.y)}|${card}`)),
        read: (text) => this.readZoom(text),
      },
    ]);
  }

  private readZoom(text: string): void {
    const zoom = new Map<string, Zoom>();
    for (const item of splitList(text)) {
      const found = /^([^|]*)\|([^|]*)\|(.*)$/s.exec(item);
      const z = found && { x: readRange(found[1]), y: readRange(found[2]) };
      if (found && z && (z.x || z.y)) zoom.set(found[3], z);
    }
    this.zoom = zoom;
  }

  setZoom(card: string, zoom: Zoom | null): void {
    const next = new Map(this.zoom);
    if (zoom) next.set(card, zoom);
    else next.delete(card);
    this.zoom = next;
  }
}

export const distView = new DistributionView();
export const grid = new GridView(PREFIX);
