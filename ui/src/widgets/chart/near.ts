// Finds the points nearest to the pointer, for lines whose x is not sorted. Few points are all looked at; of many, those in the cells
// around the pointer, from a grid that is made once for a picture and kept while its lines and axes stay.
import type { Line } from './lines';
import { toPixel, type Axis } from './scale';

const ALL = 20000; // points
const CELL = 24; // pixels
const REACH = 2; // cells each way

export interface Near {
  line: number;
  index: number;
  px: number;
  py: number;
  distance: number;
}
interface Axes {
  ax: Axis;
  left: Axis;
  right: Axis;
}

const pixelX = (line: Line, i: number, { ax }: Axes) => toPixel(ax, line.x[i]);
const pixelY = (line: Line, i: number, { left, right }: Axes) => toPixel(line.right ? right : left, line.y[i]);

class Grid {
  readonly #columns: number;
  readonly #rows: number;
  readonly #starts: Uint32Array; // of each cell, in the two below
  readonly #lines: Uint32Array;
  readonly #points: Uint32Array;

  constructor(
    readonly of: readonly Line[],
    readonly axes: Axes,
  ) {
    const { ax, left } = axes;
    const cells = (axis: Axis) =>
      Math.ceil(Math.abs(toPixel(axis, axis.domain[1]) - toPixel(axis, axis.domain[0])) / CELL) + 1;
    this.#columns = cells(ax);
    this.#rows = cells(left);
    const starts = new Uint32Array(this.#columns * this.#rows + 1);
    this.#each((cell) => starts[cell + 1]++);
    for (let i = 1; i < starts.length; i++) starts[i] += starts[i - 1];
    this.#starts = starts;
    const next = starts.slice();
    this.#lines = new Uint32Array(starts[starts.length - 1]);
    this.#points = new Uint32Array(this.#lines.length);
    this.#each((cell, line, index) => {
      this.#lines[next[cell]] = line;
      this.#points[next[cell]++] = index;
    });
  }

  #each(visit: (cell: number, line: number, index: number) => void): void {
    this.of.forEach((line, k) => {
      for (let i = 0; i < line.x.length; i++) {
        const column = Math.floor(pixelX(line, i, this.axes) / CELL);
        const row = Math.floor(pixelY(line, i, this.axes) / CELL);
        if (column >= 0 && column < this.#columns && row >= 0 && row < this.#rows)
          visit(row * this.#columns + column, k, i);
      }
    });
  }

  around(px: number, py: number, visit: (line: number, index: number) => void): void {
    const column = Math.floor(px / CELL);
    const row = Math.floor(py / CELL);
    for (let r = Math.max(0, row - REACH); r <= Math.min(this.#rows - 1, row + REACH); r++)
      for (let c = Math.max(0, column - REACH); c <= Math.min(this.#columns - 1, column + REACH); c++) {
        const cell = r * this.#columns + c;
        for (let i = this.#starts[cell]; i < this.#starts[cell + 1]; i++) visit(this.#lines[i], this.#points[i]);
      }
  }
}

let kept: Grid | null = null;
function gridOf(lines: readonly Line[], axes: Axes): Grid {
  const same =
    kept &&
    kept.of === lines &&
    kept.axes.ax === axes.ax &&
    kept.axes.left === axes.left &&
    kept.axes.right === axes.right;
  if (!same) kept = new Grid(lines, axes);
  return kept as Grid;
}

/** The nearest point of each line; of very many points only lines that come near the pointer. Nearest first. */
export function nearest(lines: readonly Line[], pointer: { px: number; py: number }, axes: Axes, most = ALL): Near[] {
  const best = new Map<number, Near>();
  const look = (k: number, index: number) => {
    const px = pixelX(lines[k], index, axes);
    const py = pixelY(lines[k], index, axes);
    const distance = Math.hypot(px - pointer.px, py - pointer.py);
    const known = best.get(k);
    if (known ? distance < known.distance : distance < Infinity) best.set(k, { line: k, index, px, py, distance });
  };
  let points = 0;
  for (const line of lines) points += line.x.length;
  if (points > most) gridOf(lines, axes).around(pointer.px, pointer.py, look);
  else lines.forEach((line, k) => line.x.forEach((_, i) => look(k, i)));
  return [...best.values()].sort((a, b) => a.distance - b.distance);
}
