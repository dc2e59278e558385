// The crosshair that all charts of one x axis share. Every chart subscribes; the chart under the pointer publishes. `owner` is the
// chart that shows the tooltip.

export interface Cross {
  x: number | null;
  owner: object | null;
}

export class Crosshair {
  at: Cross = { x: null, owner: null };
  readonly #listeners = new Set<() => void>();

  set(x: number | null, owner: object | null): void {
    if (this.at.x === x && this.at.owner === owner) return;
    this.at = { x, owner };
    for (const listener of this.#listeners) listener();
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
