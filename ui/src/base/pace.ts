// How long something still takes, from how it went in the last seconds: bytes done at moments, seconds left.

const WINDOW_MS = 8000;
const LEAST_MS = 700; // less says nothing

export class Pace {
  private seen: { at: number; done: number }[] = [];

  /** Seconds until all is done; null while nobody can tell. */
  note(at: number, done: number, all: number): number | null {
    const last = this.seen.at(-1);
    if (last && done < last.done) this.seen = []; // another reading has begun
    this.seen.push({ at, done });
    while (this.seen.length > 2 && at - this.seen[0].at > WINDOW_MS) this.seen.shift();
    const first = this.seen[0];
    if (at - first.at < LEAST_MS || done <= first.done || all <= done) return null;
    return ((all - done) * (at - first.at)) / (done - first.done) / 1000;
  }

  forget(): void {
    this.seen = [];
  }
}
