// Paints the newest picture in each frame. A motion changes the state in every frame, and the effect that follows asks for a painting
// after that. A frame that was asked for is never cancelled by a newer picture (nothing would be painted until the motion
// ends), and one more frame is asked for after each painting (otherwise only every second frame would be painted).
export class Painter {
  #frame = 0;
  #latest: (() => void) | null = null;

  /** Paints this in the next frame, unless a newer picture comes before it. */
  ask(paint: () => void): void {
    this.#latest = paint;
    this.#frame ||= requestAnimationFrame(this.#onframe);
  }
  /** Nothing is painted any more: the canvas is gone. */
  end(): void {
    cancelAnimationFrame(this.#frame);
    this.#latest = null;
  }
  #onframe = (): void => {
    const paint = this.#latest;
    this.#latest = null;
    this.#frame = paint ? requestAnimationFrame(this.#onframe) : 0;
    paint?.();
  };
}
