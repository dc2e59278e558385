// What a table asks the server for: the column to sort by, the text to find, how many rows.
const PAGE = 200;

export class Paging {
  /** The column to sort by; "-" before it: descending. */
  sort = $state('');
  find = $state('');
  limit = $state(PAGE);
  readonly params = $derived({
    sort: this.sort.replace('-', ''),
    descending: this.sort.startsWith('-') ? '1' : '0',
    ...(this.find ? { find: this.find } : {}),
  });

  constructor(sort: string) {
    this.sort = sort;
  }
  by = (sort: string): void => {
    this.sort = sort;
  };
  /** For a table: asks for more rows, where there are more. */
  more(shown: number, all: number): (() => void) | undefined {
    return all > shown ? () => (this.limit += PAGE) : undefined;
  }
}
