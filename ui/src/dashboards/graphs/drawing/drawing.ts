// A drawing as the server has laid it out, with the queries of the page: labels, nesting of boxes, the box under the
// pointer.
import type { GraphDrawing } from '../../../public';

export const SCOPE = 0;
export const OP = 1;
export const SERIES = 2;
export const CALL = 3;
export const PART = 4;
export const OPEN = 1;
export const AUXILIARY = 2;
export const MARKED = 4;
export const CONSTANT = 8;
export const LINE = { control: 1, marked: 2, up: 4, fromBorder: 8, toBorder: 16, reference: 32 } as const;
export const HEAD = 28; // height of the head of an open box

export interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

export class Drawing {
  readonly count: number;
  readonly lineCount: number;
  readonly byName = new Map<string, number>();
  /** for each line, the index of its first point */
  readonly firstPoint: Uint32Array;
  readonly labels: string[];
  /** boxes of the auxiliary list, without those of constants */
  readonly aside: number[] = [];
  readonly depth: Uint16Array;

  constructor(readonly of: GraphDrawing) {
    const { boxes, lines } = of;
    this.count = boxes.name.length;
    this.lineCount = lines.from.length;
    this.labels = boxes.name.map((name, i) => this.labelOf(name, i));
    this.depth = new Uint16Array(this.count);
    boxes.name.forEach((name, i) => {
      this.byName.set(name, i);
      if (boxes.level[i] >= 0) this.depth[i] = this.depth[boxes.level[i]] + 1;
      if (boxes.flags[i] & AUXILIARY && !(boxes.flags[i] & CONSTANT)) this.aside.push(i);
    });
    this.aside.sort((a, b) => boxes.uses[b] - boxes.uses[a]);
    this.firstPoint = new Uint32Array(this.lineCount + 1);
    for (let i = 0; i < this.lineCount; i++) this.firstPoint[i + 1] = this.firstPoint[i] + lines.points[i];
  }

  /** The label of a box. Operations of torch have a number as their name, so their type is shown instead. */
  private labelOf(name: string, i: number): string {
    const { boxes, texts } = this.of;
    const label = name.slice(boxes.label[i]);
    if (boxes.kind[i] === OP && boxes.op[i] >= 0 && /^\d*$/.test(label))
      return texts[boxes.op[i]].split('::').pop() ?? label;
    // "Block[0]" to "Block[5]" of torch: "Block[0-5]"
    return boxes.kind[i] === SERIES ? label.replace(/\[(\[\d+-\d+\])\]/, '$1') : label;
  }

  /** The background colour of the boxes inside the box `level`; -1 is the top level. */
  groundOf(level: number, { bg, inner, panel }: { bg: string; inner: string; panel: string }): string {
    return level < 0 ? bg : this.depth[level] % 2 ? inner : panel;
  }
  /** Does the line cross the rectangle? Lines go down, or up if they close a cycle. */
  isLineIn(k: number, { x, y, w, h }: Rect): boolean {
    const { points, lines } = this.of;
    const [first, end] = [this.firstPoint[k], this.firstPoint[k] + lines.points[k]];
    const [y1, y2] = [points[2 * first + 1], points[2 * end - 1]];
    if (Math.max(y1, y2) < y || Math.min(y1, y2) > y + h) return false;
    let [left, right] = [Infinity, -Infinity];
    for (let j = first; j < end; j++) {
      left = Math.min(left, points[2 * j]);
      right = Math.max(right, points[2 * j]);
    }
    return right >= x && left <= x + w;
  }
  text(id: number): string {
    return id < 0 ? '' : this.of.texts[id];
  }
  has(i: number, flag: number): boolean {
    return (this.of.boxes.flags[i] & flag) !== 0;
  }
  isDrawn(i: number): boolean {
    return !this.has(i, AUXILIARY);
  }
  canOpen(i: number): boolean {
    return this.of.boxes.children[i] > 0;
  }
  rect(i: number): Rect {
    const { x, y, w, h } = this.of.boxes;
    return { x: x[i], y: y[i], w: w[i], h: h[i] };
  }

  /** The names of all open boxes. */
  get open(): string[] {
    return this.of.boxes.name.filter((_, i) => this.has(i, OPEN));
  }

  /** The innermost box at a position; -1 if there is none. */
  at(px: number, py: number): number {
    const { x, y, w, h } = this.of.boxes;
    for (let i = this.count - 1; i >= 0; i--) {
      if (!this.isDrawn(i)) continue;
      if (px >= x[i] && px <= x[i] + w[i] && py >= y[i] && py <= y[i] + h[i]) return i;
    }
    return -1;
  }

  /** The boxes that lines from this box lead to or, if not `isDown`, that lines to this box come from. */
  neighbours(i: number, isDown: boolean): number[] {
    const { lines } = this.of;
    const found: number[] = [];
    for (let k = 0; k < this.lineCount; k++) {
      const [here, there] = isDown ? [lines.from[k], lines.to[k]] : [lines.to[k], lines.from[k]];
      if (here === i && this.isDrawn(there) && !found.includes(there)) found.push(there);
    }
    return found.sort((a, b) => this.of.boxes.x[a] - this.of.boxes.x[b]);
  }

  /** The boxes directly inside each box, in reading order; -1 is the top level. */
  private levels: Map<number, number[]> | null = null;
  membersOf(level: number): readonly number[] {
    if (!this.levels) {
      this.levels = new Map();
      for (let i = 0; i < this.count; i++) {
        const list = this.levels.get(this.of.boxes.level[i]);
        if (list) list.push(i);
        else this.levels.set(this.of.boxes.level[i], [i]);
      }
      const { x, y } = this.of.boxes;
      const rank = (i: number) => (this.isDrawn(i) ? 0 : this.has(i, CONSTANT) ? 2 : 1);
      for (const list of this.levels.values())
        list.sort((a, b) => rank(a) - rank(b) || y[a] - y[b] || x[a] - x[b] || a - b);
    }
    return this.levels.get(level) ?? [];
  }

  /** All visible boxes as rows of a table: each box is followed by the boxes inside it. */
  rows(): number[] {
    const rows: number[] = [];
    const add = (level: number) => {
      for (const i of this.membersOf(level)) {
        if (this.has(i, CONSTANT) && !this.isDrawn(i)) continue;
        rows.push(i);
        if (this.has(i, OPEN)) add(i);
      }
    };
    add(-1);
    return rows;
  }
}
