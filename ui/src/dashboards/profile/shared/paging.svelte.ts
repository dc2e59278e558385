// What a table asks the server for: the column to sort by, the text to find, how many rows.
import type { TableView } from '../view.svelte';

const PAGE = 200;

export class Paging {
  limit = $state(PAGE);
  readonly #view: TableView;
  readonly #first: string;

  /** `first`: the order at the beginning. */
  constructor(view: TableView, first: string) {
    this.#view = view;
    this.#first = first;
  }
  /** The column to sort by; "-" before it: descending. */
  get sort(): string {
    return this.#view.sort || this.#first;
  }
  get find(): string {
    return this.#view.find;
  }
  set find(text: string) {
    this.#view.find = text;
  }
  get params() {
    return {
      ...(this.sort && { sort: this.sort.replace('-', ''), descending: this.sort.startsWith('-') ? '1' : '0' }),
      ...(this.find && { find: this.find }),
    };
  }
  by = (sort: string): void => {
    this.#view.sort = sort === this.#first ? '' : sort;
  };
  /** For a table: asks for more rows, where there are more. */
  more(shown: number, all: number): (() => void) | undefined {
    return all > shown ? () => (this.limit += PAGE) : undefined;
  }
}
