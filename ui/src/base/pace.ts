// Estimates how long reading still takes, from the bytes that were done in the last seconds.

const WINDOW_MS = 8000;
const LEAST_MS = 700; // a shorter time gives no estimate

export class Pace {
  #seen: { at: number; done: number }[] = [];

  /** Seconds until all bytes are done; null while there is no estimate. */
  note(at: number, done: number, all: number): number | null {
    const last = this.#seen.at(-1);
    if (last && done < last.done) this.#seen = []; // reading has begun again
    this.#seen.push({ at, done });
    while (this.#seen.length > 2 && at - this.#seen[0].at > WINDOW_MS) this.#seen.shift();
    const first = this.#seen[0];
    if (at - first.at < LEAST_MS || done <= first.done || all <= done) return null;
    return ((all - done) * (at - first.at)) / (done - first.done) / 1000;
  }

  forget(): void {
    this.#seen = [];
  }
}
