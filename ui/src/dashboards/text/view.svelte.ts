// What the address says of texts beyond what all dashboards share.
import { fields, view } from '../../public';
import { GridView } from '../../rooms/cards/grid.svelte';

const PREFIX = 'text';

class TextView {
  markdown = $state(true);

  constructor() {
    view.add(PREFIX, [
      fields.taste({
        key: 'markdown',
        write: () => (this.markdown ? '' : 'off'),
        read: (text) => (this.markdown = text !== 'off'),
      }),
    ]);
  }
}

export const textView = new TextView();
export const grid = new GridView(PREFIX);
