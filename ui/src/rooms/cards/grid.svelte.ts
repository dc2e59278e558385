// The layout of a dashboard's cards as fields of the view: collapsed sections, pages of sections, cards in a row, and
// whether cards without a shown run are listed too. Each dashboard has its own instance, made with its prefix.
import { fields, joinList, keep, splitList, view } from '../../public';

export class GridView {
  closed = $state.raw<ReadonlySet<string>>(new Set());
  pages = $state.raw<ReadonlyMap<string, number>>(new Map());
  perRow = $state(0); // 0: as many as fit
  emptyCards = $state(false);

  constructor(prefix: string, isOld = false) {
    view.add(
      prefix,
      [
        fields.names('closed', this, 'closed'),
        {
          key: 'page',
          write: () => joinList([...this.pages].map(([section, page]) => `${page}|${section}`)),
          read: (text) => this.readPages(text),
        },
        fields.taste(fields.count('row', this, 'perRow')),
        fields.flag('empty', this, 'emptyCards', 'show'),
      ],
      isOld,
    );
  }

  private readPages(text: string): void {
    const next = new Map<string, number>();
    for (const item of splitList(text)) {
      const found = /^(\d{1,6})\|(.*)$/s.exec(item);
      if (found && Number(found[1]) > 1) next.set(found[2], Number(found[1]));
    }
    this.pages = next;
  }

  setPage(section: string, page: number): void {
    const next = new Map(this.pages);
    if (page > 1) next.set(section, page);
    else next.delete(section);
    this.pages = next;
  }

  toggleSection(section: string): void {
    this.closed = fields.toggled(this.closed, section);
  }
}

class GridSettings {
  /** cards of a section on one page; 0 means all of them, without pages */
  pageSize = $state(0);

  constructor() {
    keep('cards', this, ['pageSize']);
  }
}

export const gridSettings = new GridSettings();
