// Pointer and wheel on the stage: a drag pans, two fingers and the wheel zoom, a press without movement is a click.
import { dragPointer } from '../../../public';
import type { Camera } from './camera.svelte';

interface Place {
  clientX: number;
  clientY: number;
}
const STILL = 4; // pixels: a movement that is shorter is still a click

export class StagePointer {
  private readonly down = new Map<number, Place>();

  constructor(
    private readonly camera: Camera,
    private readonly canvas: () => HTMLCanvasElement | undefined,
    private readonly onclick: (at: Place) => void,
  ) {}

  get isDown(): boolean {
    return this.down.size > 0;
  }
  /** The position in pixels of the canvas. */
  private on({ clientX, clientY }: Place): [number, number] {
    const box = this.canvas()?.getBoundingClientRect();
    return [clientX - (box?.left ?? 0), clientY - (box?.top ?? 0)];
  }
  /** The position in units of the drawing. */
  in(at: Place): [number, number] {
    const [px, py] = this.on(at);
    const { x, y, scale } = this.camera;
    return [x + px / scale, y + py / scale];
  }

  readonly ondown = (e: PointerEvent): void => {
    if (e.button !== 0) return;
    const start: Place = e;
    let last = start;
    let hasMoved = false;
    this.down.set(e.pointerId, start);
    dragPointer(e, {
      move: (m) => {
        this.down.set(m.pointerId, m);
        if (Math.hypot(m.clientX - start.clientX, m.clientY - start.clientY) > STILL) hasMoved = true;
        const other = [...this.down].find(([id]) => id !== m.pointerId)?.[1];
        if (other) this.pinch(last, m, other);
        else if (hasMoved) this.camera.pan(m.clientX - last.clientX, m.clientY - last.clientY);
        last = m;
      },
      end: (isDone, m) => {
        this.down.delete(e.pointerId);
        if (isDone && !hasMoved && m instanceof PointerEvent) this.onclick(m);
      },
    });
  };

  /** One of two fingers moves from one position to another. */
  private pinch(from: Place, to: Place, other: Place): void {
    const was = Math.hypot(from.clientX - other.clientX, from.clientY - other.clientY);
    const is = Math.hypot(to.clientX - other.clientX, to.clientY - other.clientY);
    const middle = { clientX: (to.clientX + other.clientX) / 2, clientY: (to.clientY + other.clientY) / 2 };
    if (was > 0) this.camera.zoomAt(...this.on(middle), is / was);
  }

  private readonly onwheel = (e: WheelEvent): void => {
    e.preventDefault();
    if (e.shiftKey && !e.ctrlKey && !e.metaKey) return this.camera.pan(-e.deltaY, 0);
    this.camera.zoomAt(...this.on(e), Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0018)));
  };
  /** An attachment, which adds the wheel listener as not passive: a passive listener could not prevent scrolling. */
  readonly wheels = (node: HTMLElement) => {
    node.addEventListener('wheel', this.onwheel, { passive: false });
    return () => node.removeEventListener('wheel', this.onwheel);
  };
}
