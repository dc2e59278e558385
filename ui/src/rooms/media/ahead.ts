// What may be wanted next, such as the steps beside the one that is shown: loaded one at a time, and only while nothing
// that is in sight waits for an answer of the server or for its bytes. What is not wanted any more is cancelled.
import { isAwaited } from '../../public';

/** A card that comes into sight asks in the frame after: it is still only when there was another frame. */
const STILL_FRAMES = 2;

export interface Load {
  /** It came, failed or was dropped. */
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

  /** Something in sight waits for its bytes, until the function that is returned is called. */
  hold(): () => void {
    this.held++;
    return () => this.held--;
  }

  /** What `owner` is likely to want next, the likeliest first, in place of what it named before. */
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
      this.wishes.set(owner, wish); // last: the others have their first before this one has its second
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
