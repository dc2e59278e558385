// From one drawing of a graph to the next: what was clicked stays where it is on the screen, and boxes move from their old
// places to the new ones.
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
  /** the box that stays where it is on the screen; "": the selected one */
  anchor = '';

  constructor(private readonly camera: Camera) {}

  get isMoving(): boolean {
    return this.motion.t < 1;
  }

  /** `source` says which graph it is: another one is shown from its beginning. */
  to(next: Drawing, source: string, selected: string): void {
    const { before } = this;
    if (next === before) return;
    if (!before || source !== this.source) {
      this.from = null;
      this.camera.start(next.of.w, next.of.h);
    } else {
      const now = this.rects(before); // a motion that has not ended goes on from where it is
      const { dx, dy } = this.keepInPlace(before, now, next, selected);
      const onScreen = (r: Rect | null) => r && { ...r, x: r.x + dx, y: r.y + dy };
      this.from =
        next.count > MOST_MOVING ? null : next.of.boxes.name.map((name) => onScreen(rectIn(before, name, now)));
      this.motion.run();
    }
    this.before = next;
    this.source = source;
  }

  /** Moves the camera with a box. Gives how far: old places plus that are where boxes were on the screen. */
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

  /** Where boxes are now; null: at their places. */
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
