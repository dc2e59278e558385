// Shares the time of a frame among all that draw: jobs are generators that yield between strokes, and get a few
// milliseconds a frame together, so that a thousand lines on twelve cards never make the page stutter.

const BUDGET_MS = 9;

type Job = Generator<void, void, void>;
const queue: Job[] = [];
let scheduled = false;

function frame(): void {
  scheduled = false;
  const until = performance.now() + BUDGET_MS;
  while (queue.length) {
    const job = queue[0];
    let done = false;
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

/** Runs the job over the next frames; the answer gives it up. */
export function overFrames(job: Job): () => void {
  queue.push(job);
  schedule();
  return () => {
    const at = queue.indexOf(job);
    if (at >= 0) queue.splice(at, 1);
  };
}
