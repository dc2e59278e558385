// The camera of the stage: pan and zoom, with short animations that show what moved where.
import type { Rect } from '../drawing/drawing';

export const LEAST_SCALE = 0.01;
export const MOST_SCALE = 4;
const MOTION_MS = 120;
const MARGIN = 40;
const LARGEST_FIT = 1.25;
const GAP = 12; // pixels between a box and the panel that it came out from under
const FAR = 1e6;

const calm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
/**
 * The progress of an animation after `ms` milliseconds, 0 to 1. `ms` can be negative, because the time of the first frame
 * may be before the start of the animation; the progress is then 0.
 */
const progress = (ms: number) => 1 - (1 - Math.min(1, Math.max(0, ms / MOTION_MS))) ** 3;

export class Camera {
  x = $state(0);
  y = $state(0);
  scale = $state(1);
  /** size of the canvas in CSS pixels */
  width = $state(0);
  height = $state(0);
  /** pixels at the right edge that are covered by panels: a graph that fits beside them is not placed under them */
  covered = 0;
  private frame = 0;
  /**
   * the target of the current animation; null if there is none. A second key press continues from the target, so that
   * quick presses add up.
   */
  private goal: { x: number; y: number; scale: number } | null = null;

  /** The visible part of the drawing. */
  readonly seen = $derived<Rect>({ x: this.x, y: this.y, w: this.width / this.scale, h: this.height / this.scale });

  private set(x: number, y: number, scale: number): void {
    this.x = x;
    this.y = y;
    this.scale = scale;
  }
  jump(x: number, y: number, scale = this.scale): void {
    cancelAnimationFrame(this.frame);
    this.goal = null;
    this.set(x, y, scale);
  }
  private glide(x: number, y: number, scale: number): void {
    if (calm() || this.width === 0) return this.jump(x, y, scale);
    cancelAnimationFrame(this.frame);
    this.goal = { x, y, scale };
    const from = { x: this.x, y: this.y, scale: this.scale };
    const began = performance.now();
    const step = (now: number) => {
      const t = progress(now - began);
      this.set(from.x + (x - from.x) * t, from.y + (y - from.y) * t, from.scale + (scale - from.scale) * t);
      if (t < 1) this.frame = requestAnimationFrame(step);
      else this.goal = null;
    };
    this.frame = requestAnimationFrame(step);
  }

  private get free(): number {
    return this.width - this.covered;
  }
  /**
   * The horizontal position of the centre of a graph that is `pixels` wide: the centre of the stage, or further left if
   * panels would cover the graph. If it has no room beside them, its left edge stays in sight.
   */
  private middle(pixels: number): number {
    const beside = this.free - MARGIN - pixels / 2;
    return Math.max(this.free / 2, Math.min(this.width / 2, Math.max(beside, MARGIN + pixels / 2)));
  }
  private wholeScale(w: number, h: number): number {
    return Math.min(LARGEST_FIT, (this.free - 2 * MARGIN) / w, (this.height - 2 * MARGIN) / h);
  }
  fit(w: number, h: number, motion = true): void {
    if (!this.width || !this.height || !w || !h) return;
    const good = Math.max(LEAST_SCALE, this.wholeScale(w, h));
    const [x, y] = [w / 2 - this.middle(w * good) / good, h / 2 - this.height / good / 2];
    if (motion) this.glide(x, y, good);
    else this.jump(x, y, good);
  }
  /**
   * The initial view: a tall graph is shown from its top with its whole width, as far as it stays readable; a small one
   * is shown whole.
   */
  start(w: number, h: number): void {
    if (!this.width || !this.height || !w || !h) return;
    if (this.wholeScale(w, h) >= 0.5) return this.fit(w, h, false);
    const scale = Math.max(0.5, Math.min(1, (this.free - 2 * MARGIN) / w));
    this.jump(w / 2 - this.middle(w * scale) / scale, -MARGIN / scale, scale);
  }
  zoomAt(px: number, py: number, factor: number, motion = false): void {
    const from = (motion && this.goal) || this;
    const scale = Math.max(LEAST_SCALE, Math.min(MOST_SCALE, from.scale * factor));
    const [x, y] = [from.x + px / from.scale - px / scale, from.y + py / from.scale - py / scale];
    if (motion) this.glide(x, y, scale);
    else this.jump(x, y, scale);
  }
  zoom(factor: number): void {
    this.zoomAt(this.width / 2, this.height / 2, factor, true);
  }
  pan(dx: number, dy: number): void {
    const { x, y, scale } = this.goal ?? this;
    this.jump(x - dx / scale, y - dy / scale, scale);
  }
  /** Scrolls to a box if it is not visible, and zooms in if it is too small to be read. */
  show(r: Rect): void {
    const from = this.goal ?? this;
    const scale = Math.max(from.scale, 0.5);
    const seen = { w: this.width / scale, h: this.height / scale };
    const isIn =
      scale === from.scale &&
      r.x >= from.x &&
      r.x + r.w <= from.x + seen.w &&
      r.y >= from.y &&
      r.y + r.h <= from.y + seen.h;
    if (isIn) return;
    this.glide(r.x + r.w / 2 - seen.w / 2, r.y + Math.min(r.h, seen.h) / 2 - seen.h / 2, scale);
  }
  /**
   * Moves the view by as little as brings a box out from under panels, and from behind the right and the lower edge. `panels`
   * are in pixels of the canvas; `was` is the size of the canvas before: a box that was out of sight then stays there.
   */
  uncover(r: Rect, panels: readonly Rect[], was: { width: number; height: number }): void {
    const { x, y, scale } = this.goal ?? this;
    const [w, h] = [r.w * scale, r.h * scale];
    let [left, top] = [(r.x - x) * scale, (r.y - y) * scale];
    if (left >= was.width || top >= was.height || left + w <= 0 || top + h <= 0) return;
    const right = { x: this.width, y: -FAR, w: FAR, h: 2 * FAR };
    const below = { x: -FAR, y: this.height, w: 2 * FAR, h: FAR };
    for (const p of [right, below, ...panels]) {
      if (left + w <= p.x || left >= p.x + p.w || top + h <= p.y || top >= p.y + p.h) continue;
      const [toLeft, toTop] = [p.x - w - GAP, p.y - h - GAP];
      if (toLeft >= 0 && (toTop < 0 || left - toLeft < top - toTop)) left = toLeft;
      else if (toTop >= 0) top = toTop;
    }
    const [x2, y2] = [r.x - left / scale, r.y - top / scale];
    if (Math.hypot(x2 - x, y2 - y) * scale > 1) this.glide(x2, y2, scale);
  }
}

/** The animation of boxes from their old positions to their new ones, after a new drawing has arrived. */
export class Motion {
  /** progress; 1 means that there is no animation */
  t = $state(1);
  private frame = 0;

  run(): void {
    cancelAnimationFrame(this.frame);
    if (calm()) {
      this.t = 1;
      return;
    }
    const began = performance.now();
    this.t = 0;
    const step = (now: number) => {
      this.t = progress(now - began);
      if (this.t < 1) this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }
}
