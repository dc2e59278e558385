// The order in which requests leave: those for what is in sight first, then for what is just out of sight, then those
// in the background; within a priority in the order in which they came. A few are under way at a time, so that the
// first chart is whole before the tenth begins, and background requests never take the last free place.

/** 0: in sight; 1: just out of sight; 2: background. */
export type Priority = 0 | 1 | 2;
export const IN_SIGHT = 0;
export const AHEAD = 1;
export const BACKGROUND = 2;

const AT_ONCE = 2;
const BACKGROUND_AT_ONCE = 1;

interface Job {
  priority: Priority;
  run: (signal: AbortSignal) => Promise<void>;
}

export class FetchQueue {
  readonly #waiting = new Map<number, Job>();
  readonly #running = new Map<number, { priority: Priority; stop: AbortController }>();

  add(id: number, priority: Priority, run: Job['run']): void {
    this.#waiting.set(id, { priority, run });
    this.#next();
  }

  /** Removes a job that waits; the signal of one that runs is aborted. */
  cancel(id: number): void {
    this.#waiting.delete(id);
    this.#running.get(id)?.stop.abort();
  }

  /** A card came into sight, or left it, while its request waited. */
  move(id: number, priority: Priority): void {
    const job = this.#waiting.get(id);
    if (!job) return;
    job.priority = priority;
    this.#next(); // as a background job it may have been held back
  }

  #best(): [number, Job] | null {
    let best: [number, Job] | null = null;
    for (const entry of this.#waiting) if (!best || entry[1].priority < best[1].priority) best = entry;
    return best;
  }

  #next(): void {
    while (this.#running.size < AT_ONCE) {
      const best = this.#best();
      if (!best) return;
      const [id, { priority, run }] = best;
      const inBackground = [...this.#running.values()].filter((job) => job.priority === BACKGROUND).length;
      if (priority === BACKGROUND && inBackground >= BACKGROUND_AT_ONCE) return;
      this.#waiting.delete(id);
      const stop = new AbortController();
      this.#running.set(id, { priority, stop });
      void run(stop.signal).finally(() => {
        this.#running.delete(id);
        this.#next();
      });
    }
  }
}
