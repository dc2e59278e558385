// The camera: which time range is visible. Motions are short, and there are none for viewers who prefer reduced motion.
import { profileView as v, type Span } from '../view.svelte';

const MOTION_MS = 120;
const LEAST_PS = 20; // the smallest visible range
const BEYOND = 0.25; // so much of the width may be empty at either end

const calm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

export class TimeCamera {
  from = $state(0);
  to = $state(1);
  width = $state(0); // width of the canvas, in CSS pixels
  private whole: Span = [0, 1];
  private frame = 0;
  private target: Span | null = null;
  /** the window that was last written to the address */
  noted: Span | null = null;
  isStarted = false;

  readonly perPixel = $derived((this.to - this.from) / Math.max(1, this.width));
  x = (ps: number): number => (ps - this.from) / this.perPixel;
  at = (x: number): number => this.from + x * this.perPixel;

  /** Begins with a capture: shows the range that the address names, or all of it. */
  start(whole: Span): void {
    cancelAnimationFrame(this.frame);
    this.whole = whole;
    const [from, to] = this.bounded(v.window ?? whole);
    this.from = from;
    this.to = to;
    this.noted = v.window;
    this.isStarted = true;
  }
  private bounded([from, to]: Span): Span {
    const [low, high] = this.whole;
    const all = high - low;
    const span = Math.min(Math.max(to - from, LEAST_PS), all * (1 + 2 * BEYOND));
    const middle = (from + to) / 2;
    const left = Math.min(Math.max(middle - span / 2, low - BEYOND * span), high + BEYOND * span - span);
    return [left, left + span];
  }
  jump(from: number, to: number): void {
    cancelAnimationFrame(this.frame);
    this.target = null;
    this.set(this.bounded([from, to]));
    this.note();
  }
  private set([from, to]: Span): void {
    this.from = from;
    this.to = to;
  }
  private note(): void {
    const [low, high] = this.whole;
    this.noted = this.from <= low && this.to >= high ? null : [this.from, this.to];
    v.window = this.noted;
  }
  glide(from: number, to: number): void {
    cancelAnimationFrame(this.frame);
    const end = this.bounded([from, to]);
    if (calm() || this.width === 0) return this.jump(...end);
    const start: Span = [this.from, this.to];
    this.target = end;
    const began = performance.now();
    const step = (now: number) => {
      const share = Math.max(0, (now - began) / MOTION_MS); // the time stamp of the first frame may be before the motion began
      const t = 1 - (1 - Math.min(1, share)) ** 3;
      this.set([start[0] + (end[0] - start[0]) * t, start[1] + (end[1] - start[1]) * t]);
      if (t < 1) this.frame = requestAnimationFrame(step);
      else {
        this.target = null;
        this.note();
      }
    };
    this.frame = requestAnimationFrame(step);
  }
  /** Ends the motion: the window that it would note means nothing in another capture. */
  end(): void {
    cancelAnimationFrame(this.frame);
  }
  /** The range at the end of the motion: keys that are held down continue from there. */
  private get aim(): Span {
    return this.target ?? [this.from, this.to];
  }
  zoomAt(ps: number, factor: number, motion = false): void {
    const [from, to] = motion ? this.aim : [this.from, this.to];
    const next: Span = [ps - (ps - from) / factor, ps + (to - ps) / factor];
    if (motion) this.glide(...next);
    else this.jump(...next);
  }
  panBy(share: number): void {
    const [from, to] = this.aim;
    this.glide(from + (to - from) * share, to + (to - from) * share);
  }
  pan(pixels: number): void {
    const by = pixels * this.perPixel;
    this.jump(this.from + by, this.to + by);
  }
  all(): void {
    this.glide(...this.whole);
  }
  /** Zooms to a time range, with a margin around it. */
  fit(start: number, duration: number): void {
    const span = Math.max(duration, LEAST_PS) * 1.4;
    const middle = start + duration / 2;
    this.glide(middle - span / 2, middle + span / 2);
  }
  /** Makes a range visible if it is not. Keeps the zoom, unless the range would be too small to see. */
  reveal(start: number, duration: number): void {
    const isIn = start >= this.from && start + duration <= this.to;
    const isSmall = duration < 3 * this.perPixel;
    const isLarge = duration > this.to - this.from;
    if (isSmall || isLarge) return this.fit(start, isSmall ? duration * 40 + this.perPixel * 2 : duration);
    if (isIn) return;
    const span = this.to - this.from;
    const middle = start + duration / 2;
    this.glide(middle - span / 2, middle + span / 2);
  }
}

const TILE = 1024; // pixels
/**
 * The window to ask for: a power of two finer than what is in sight and a tile more at both ends, so that small
 * motions ask for nothing.
 */
export function asked(from: number, to: number, width: number): { window: Span; pixels: number } {
  const perPixel = (to - from) / Math.max(1, width);
  const fine = 2 ** Math.floor(Math.log2(Math.max(perPixel, 1 / 64)));
  const tile = fine * TILE;
  const first = Math.floor(from / tile - 0.5);
  const last = Math.ceil(to / tile + 0.5);
  return { window: [first * tile, last * tile], pixels: (last - first) * TILE };
}
