// Prefetches what may be wanted next, such as the neighbours of the shown step: one at a time, and only while nothing
// visible waits for an answer of the server or for its bytes. What is not wanted any more is cancelled.
import { isAwaited } from '../../public';

/**
 * Frames in which nothing visible may be waiting before prefetching starts. A card that becomes visible sends its request
 * one frame later, so a single frame is not enough.
 */
const STILL_FRAMES = 2;

export interface Load {
  /** resolves when the load has ended: done, failed or dropped */
  over: Promise<unknown>;
  drop(): void;
}
interface Wish {
  left: string[];
  taken: Map<string, Load>;
  start: (url: string) => Load;
}

export class Ahead {
  private readonly wishes = new Map<object, Wish>();
  private held = 0;
  private isLoading = false;
  private still = 0;
  private frame = 0;

  /** Stops prefetching, because something visible waits for its bytes, until the returned function is called. */
  hold(): () => void {
    this.held++;
    return () => this.held--;
  }

  /** Sets what `owner` is likely to want next, the most likely first. It replaces what `owner` has set before. */
  want(owner: object, urls: readonly string[], start: (url: string) => Load): void {
    const taken = new Map<string, Load>();
    for (const [url, load] of this.wishes.get(owner)?.taken ?? [])
      if (urls.includes(url)) taken.set(url, load);
      else load.drop();
    this.wishes.set(owner, { left: urls.filter((url) => !taken.has(url)), taken, start });
    this.still = 0;
    this.look();
  }

  forget(owner: object): void {
    for (const load of this.wishes.get(owner)?.taken.values() ?? []) load.drop();
    this.wishes.delete(owner);
  }

  private look(): void {
    if (this.frame || this.isLoading || ![...this.wishes.values()].some(({ left }) => left.length)) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.still = this.held === 0 && !isAwaited() ? this.still + 1 : 0;
      if (this.still > STILL_FRAMES) this.next();
      else this.look();
    });
  }

  private next(): void {
    for (const [owner, wish] of this.wishes) {
      const url = wish.left.shift();
      if (url === undefined) continue;
      this.wishes.delete(owner);
      this.wishes.set(owner, wish); // moved to the end, so that every owner gets its first load before any gets its second
      const load = wish.start(url);
      wish.taken.set(url, load);
      this.isLoading = true;
      void load.over.finally(() => {
        this.isLoading = false;
        this.look();
      });
      return;
    }
  }
}

export const ahead = new Ahead();
