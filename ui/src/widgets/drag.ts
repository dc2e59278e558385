// Drags of two kinds. `DragKind` is the browser's drag and drop of things of one kind between elements: it knows what is
// dragged until the drag ends, also when it is aborted, and takes no drop of anything else (a file, a text, another
// kind). `dragPointer` follows a pointer that was pressed until it is released: resizing, moving a handle.

export class DragKind<T> {
  #dragged: T | null = null;

  /** `type` is the media type under which the browser carries it; no other program knows it. */
  constructor(private readonly type: string) {}

  /** For `dragstart`. */
  start(e: DragEvent, what: T): void {
    this.#dragged = what;
    if (e.dataTransfer) {
      e.dataTransfer.setData(this.type, '');
      e.dataTransfer.effectAllowed = 'move';
    }
    // comes after a drop, and also when the drag is aborted by Escape or ends outside
    addEventListener('dragend', () => (this.#dragged = null), { once: true, capture: true });
  }

  /** For `dragover` and `drop`: what is dragged, null for anything that is not of this kind. */
  over(e: DragEvent): T | null {
    return e.dataTransfer?.types.includes(this.type) ? this.#dragged : null;
  }
}

export interface PointerDrag {
  move: (e: PointerEvent) => void;
  /** `done` is false when the browser cancelled the pointer or the viewer pressed Escape. */
  end?: (done: boolean, e: PointerEvent | KeyboardEvent) => void;
}

/** For `pointerdown`: calls back until the pointer is released, cancelled, or Escape is pressed. Returns a function
 * that stops it before that, without a call of `end`. */
export function dragPointer(down: PointerEvent, { move, end }: PointerDrag): () => void {
  const stop = new AbortController();
  const own = (e: PointerEvent) => e.pointerId === down.pointerId;
  const finish = (done: boolean, e: PointerEvent | KeyboardEvent) => {
    stop.abort();
    end?.(done, e);
  };
  const options: AddEventListenerOptions = { signal: stop.signal, capture: true };
  addEventListener('pointermove', (e: PointerEvent) => own(e) && move(e), options);
  addEventListener('pointerup', (e: PointerEvent) => own(e) && finish(true, e), options);
  addEventListener('pointercancel', (e: PointerEvent) => own(e) && finish(false, e), options);
  addEventListener(
    'keydown',
    (e: KeyboardEvent) => {
      if (e.key !== 'Escape') return;
      e.preventDefault();
      e.stopPropagation();
      finish(false, e);
    },
    options,
  );
  return () => stop.abort();
}
