// Shares the time of a frame among all that draw: jobs are generators that yield between strokes, and get a few
// milliseconds a frame together, so that a thousand lines on twelve cards never make the page stutter. While nobody
// points, scrolls or types they get more of it, so that pictures are complete sooner.

const BUSY_MS = 8;
const IDLE_MS = 30;
const CALM_AFTER_MS = 400;

let touched = -Infinity;
if (typeof addEventListener === 'function')
  for (const kind of ['pointermove', 'pointerdown', 'wheel', 'keydown', 'scroll'])
    addEventListener(kind, () => (touched = performance.now()), { capture: true, passive: true });

type Job = Generator<void, void, void>;
const queue: Job[] = [];
let scheduled = false;

function frame(): void {
  scheduled = false;
  const now = performance.now();
  const until = now + (now - touched > CALM_AFTER_MS ? IDLE_MS : BUSY_MS);
  while (queue.length) {
    const job = queue[0];
    let done: boolean;
    do {
      done = job.next().done === true;
    } while (!done && performance.now() < until);
    if (!done) break;
    queue.shift();
    if (performance.now() >= until) break;
  }
  if (queue.length) schedule();
}

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(frame);
}

/** Runs the job over the next frames. Returns a function that cancels it. */
export function overFrames(job: Job): () => void {
  queue.push(job);
  schedule();
  return () => {
    const at = queue.indexOf(job);
    if (at >= 0) queue.splice(at, 1);
  };
}
