// The transition from one drawing of a graph to the next: the box that was clicked keeps its position on the screen, and
// the other boxes move from their old positions to their new ones.
import { Motion, type Camera } from './camera.svelte';
import type { Drawing, Rect } from '../drawing/drawing';

const MOST_MOVING = 3000;

const rectIn = (of: Drawing, name: string, now: readonly Rect[] | null = null): Rect | null => {
  const i = of.byName.get(name) ?? -1;
  return i >= 0 && of.isDrawn(i) ? (now?.[i] ?? of.rect(i)) : null;
};

export class Transition {
  private readonly motion = new Motion();
  private before: Drawing | null = null;
  private from: (Rect | null)[] | null = null;
  private source = '';
  /** name of the box that keeps its position on the screen; "" means the selected box */
  anchor = '';

  constructor(private readonly camera: Camera) {}

  get isMoving(): boolean {
    return this.motion.t < 1;
  }

  /**
   * Starts the transition to another drawing. `source` identifies the graph: a different graph is shown in its initial
   * view, without an animation.
   */
  to(next: Drawing, source: string, selected: string): void {
    const { before } = this;
    if (next === before) return;
    if (!before || source !== this.source) {
      this.from = null;
      this.camera.start(next.of.w, next.of.h);
    } else {
      const now = this.rects(before); // an animation that has not ended continues from the current positions
      const { dx, dy } = this.keepInPlace(before, now, next, selected);
      const onScreen = (r: Rect | null) => r && { ...r, x: r.x + dx, y: r.y + dy };
      this.from =
        next.count > MOST_MOVING ? null : next.of.boxes.name.map((name) => onScreen(rectIn(before, name, now)));
      this.motion.run();
    }
    this.before = next;
    this.source = source;
  }

  /**
   * Moves the camera together with a box. Returns the offset that must be added to old positions, so that boxes start
   * where they were on the screen.
   */
  private keepInPlace(old: Drawing, now: readonly Rect[] | null, next: Drawing, selected: string) {
    const name = this.anchor || selected || next.of.boxes.name.find((each) => old.byName.has(each)) || '';
    const [was, is] = [rectIn(old, name, now), rectIn(next, name)];
    const { camera } = this;
    this.anchor = '';
    if (!was || !is) return { dx: 0, dy: 0 };
    const [dx, dy] = [is.x + is.w / 2 - was.x - was.w / 2, is.y - was.y];
    camera.jump(camera.x + dx, camera.y + dy);
    return { dx, dy };
  }

  /** The current positions of boxes during an animation; null if they are at their final positions. */
  rects(of: Drawing): Rect[] | null {
    const { t } = this.motion;
    const { from } = this;
    if (t >= 1 || !from || from.length !== of.count) return null;
    return from.map((old, i) => {
      const to = of.rect(i);
      if (!old) {
        const s = 0.6 + 0.4 * t;
        return { x: to.x + (to.w * (1 - s)) / 2, y: to.y + (to.h * (1 - s)) / 2, w: to.w * s, h: to.h * s };
      }
      const between = (a: number, b: number) => a + (b - a) * t;
      return { x: between(old.x, to.x), y: between(old.y, to.y), w: between(old.w, to.w), h: between(old.h, to.h) };
    });
  }
}
