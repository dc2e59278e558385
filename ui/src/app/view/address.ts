// The address bar and the view follow each other. A change of the view is written when it has rested for a moment, so that
// a slider that moves is one change; an address that somebody else sets (a link, Back, a bookmark) is read into the view.
import { parseHash } from '../../base/address/hash';
import { view } from './view.svelte';

const REST_MS = 120;

export class Address {
  /** What the bar said when the view was last written to it or read from it. */
  #known = '';
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** The address that the page was opened with, as the view has it. */
  open({ hash, search }: { hash: string; search: string }): void {
    history.replaceState(null, '', location.pathname + search + hash);
    this.#known = location.hash;
    view.note(hash);
  }

  /** The view is this one now. */
  follow(hash: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#write(hash), REST_MS);
  }

  /** The bar may say something else now. */
  read(): void {
    if (location.hash === this.#known) return;
    this.#known = location.hash;
    if (location.hash !== view.encode()) view.decode(location.hash);
  }

  #write(hash: string): void {
    // Somebody set an address whose event has not come yet: it is newer than the view, and must not be overwritten.
    if (location.hash !== this.#known) return this.read();
    view.note(hash);
    if (location.hash === hash) return;
    // another tab is another page, and so is a card at full size: the browser's Back leads back from there
    const [before, after] = [parseHash(location.hash), parseHash(hash)];
    const isPage = before.tab !== after.tab || (after.values.has('full') && !before.values.has('full'));
    history[isPage ? 'pushState' : 'replaceState'](null, '', hash);
    this.#known = location.hash;
  }
}

export const address = new Address();
