// Plays the steps one after the other. The next step is shown when all images of the current one are loaded, but not
// before a minimum time has passed.
import { steps } from '../../rooms/steps/steps.svelte';
import { isLoading } from './picture/preload';

const STEP_MS = 350;
const LONGEST_WAIT_MS = 3000;

export class Player {
  isPlaying = $state(false);
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly all: () => readonly number[]) {}

  toggle(): void {
    if (this.isPlaying) this.stop();
    else this.start();
  }
  private start(): void {
    const all = this.all();
    if (all.length < 2) return;
    this.isPlaying = true;
    // after the last step it starts again with the first
    const master = steps.master;
    if (master === null || master >= all[all.length - 1]) steps.setMaster(all[0]);
    this.wait(STEP_MS, 0);
  }
  stop(): void {
    clearTimeout(this.timer);
    this.isPlaying = false;
  }
  private wait(ms: number, waited: number): void {
    this.timer = setTimeout(() => {
      if (isLoading() && waited < LONGEST_WAIT_MS) this.wait(50, waited + 50);
      else this.next();
    }, ms);
  }
  private next(): void {
    const master = steps.master;
    const step = master === null ? undefined : this.all().find((s) => s > master);
    if (step === undefined) {
      this.stop();
      return;
    }
    steps.setMaster(step);
    this.wait(STEP_MS, 0);
  }
}
