// That background jobs went on, as the live stream tells it. Apart from job.ts, which the first page does without.

/** Called when jobs go on. */
export const waiting = new Set<() => void>();
let heard = 0;
/** How often jobs went on. */
export const timesHeard = (): number => heard;

/** The live stream tells that jobs went on: whoever waits for one asks now. */
export function hearJobs(): void {
  heard++;
  waiting.forEach((wake) => wake());
}
