// What can be undone, in the order it was done: changes of the view and changes that the server keeps (names, tags,
// archived runs). A step knows how to take itself back and how to do itself again.

const MOST = 200;

export interface Step {
  undo: () => void;
  redo: () => void;
}

export class History {
  #past: Step[] = [];
  #future: Step[] = [];

  push(step: Step): void {
    this.#past.push(step);
    if (this.#past.length > MOST) this.#past.shift();
    this.#future = [];
  }

  /** Takes back the last step, or the one that is given wherever it is. Answers whether there was one. */
  undo(step = this.#past.at(-1)): boolean {
    const at = step ? this.#past.lastIndexOf(step) : -1;
    if (!step || at < 0) return false;
    this.#past.splice(at, 1);
    this.#future.push(step);
    step.undo();
    return true;
  }

  redo(): boolean {
    const step = this.#future.pop();
    if (!step) return false;
    this.#past.push(step);
    step.redo();
    return true;
  }
}
