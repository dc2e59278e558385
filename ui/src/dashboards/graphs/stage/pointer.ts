// Pointer and wheel on the stage: a drag pans, two fingers and the wheel zoom, a press without movement is a click, two of them open or
// close a box.
import { dragPointer } from '../../../public';
import type { Camera } from './camera.svelte';

interface Place {
  clientX: number;
  clientY: number;
}
const STILL = 4; // pixels: a movement that is shorter is still a click
const DOUBLE_MS = 500; // most time between the two clicks of a double click

export class StagePointer {
  private readonly down = new Map<number, Place>();
  /** Did the pointer move since it was pressed? The click that follows is then the end of a drag. */
  private hasMoved = false;
  private first: (Place & { timeStamp: number; name: string }) | null = null;

  constructor(
    private readonly camera: Camera,
    private readonly canvas: () => HTMLCanvasElement | undefined,
    /** the name of the box at a position; '' for the ground */
    private readonly nameAt: (at: Place) => string,
    private readonly choose: (name: string) => void,
    private readonly toggle: (name: string) => void,
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
    this.hasMoved = false;
    this.down.set(e.pointerId, start);
    dragPointer(e, {
      move: (m) => {
        this.down.set(m.pointerId, m);
        if (Math.hypot(m.clientX - start.clientX, m.clientY - start.clientY) > STILL) this.hasMoved = true;
        const other = [...this.down].find(([id]) => id !== m.pointerId)?.[1];
        if (other) this.pinch(last, m, other);
        else if (this.hasMoved) this.camera.pan(m.clientX - last.clientX, m.clientY - last.clientY);
        last = m;
      },
      end: () => void this.down.delete(e.pointerId),
    });
  };

  /** The second click of a double click chooses nothing: what the first one chose may have moved away from there. */
  readonly onclick = (e: MouseEvent): void => {
    if (this.hasMoved || e.detail > 1) return;
    const { clientX, clientY, timeStamp } = e;
    this.first = { clientX, clientY, timeStamp, name: this.nameAt(e) };
    this.choose(this.first.name);
  };
  readonly ondblclick = (): void => {
    if (this.first?.name) this.toggle(this.first.name);
    this.first = null;
  };
  /**
   * For the events of a press anywhere on the page, before others get them: the card that the first click of a double
   * click opens, or a panel that it pushes aside, may be where the second click comes. That is still one of the stage.
   */
  readonly onelsewhere = (e: MouseEvent): void => {
    const { first } = this;
    if (!first || e.target === this.canvas() || e.timeStamp - first.timeStamp > DOUBLE_MS) return;
    if (Math.hypot(e.clientX - first.clientX, e.clientY - first.clientY) > STILL) return;
    e.preventDefault();
    e.stopPropagation();
    if (e.type === 'dblclick') this.ondblclick();
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
