// Handles ("fobs") on a chart's x axis: which x they may stand on, where their labels fit, and the lines and the shade
// that show what is selected. Plain functions; the handles themselves are elements of the page.
import { lowerBound, nearestIndex, type Line } from './lines';
import { toPixel, type Axis } from './scale';

export interface Marks {
  from: number;
  to: number | null; // null: one line
  ghost: number | null; // where a handle would be dropped
}

/** The x of the point nearest to x, of any line; x itself where there are none. */
export function snap(lines: readonly Line[], x: number): number {
  let best = x;
  let distance = Infinity;
  for (const line of lines) {
    const i = nearestIndex(line.x, x);
    if (i < 0 || !(Math.abs(line.x[i] - x) < distance)) continue;
    best = line.x[i];
    distance = Math.abs(best - x);
  }
  return best;
}

/** The x of the next point after x (before it, for a negative `by`), of any line, so many times. */
export function walk(lines: readonly Line[], x: number, by: number): number {
  for (let n = Math.abs(by); n > 0; n--) {
    let next = by > 0 ? Infinity : -Infinity;
    for (const { x: xs } of lines) {
      let i = lowerBound(xs, x);
      if (by > 0) {
        while (i < xs.length && xs[i] <= x) i++;
        if (i < xs.length && xs[i] < next) next = xs[i];
      } else if (i > 0 && xs[i - 1] > next) next = xs[i - 1];
    }
    if (!Number.isFinite(next)) return x;
    x = next;
  }
  return x;
}

/** Left edges of labels of these widths, each around its place, inside `room` and, if there are two, side by side. */
export function spread(places: readonly number[], widths: readonly number[], room: number): number[] {
  const fit = (left: number, width: number) => Math.max(0, Math.min(left, room - width));
  const lefts = places.map((px, i) => fit(px - widths[i] / 2, widths[i]));
  if (lefts.length < 2) return lefts;
  const over = lefts[0] + widths[0] + 2 - lefts[1];
  if (over <= 0) return lefts;
  const first = Math.max(0, Math.min(lefts[0] - over / 2, room - widths[0] - widths[1] - 2));
  return [first, first + widths[0] + 2];
}

interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

export function drawMarks(ctx: CanvasRenderingContext2D, marks: Marks, ax: Axis, box: Area, colour: string): void {
  const inside = (px: number) => Math.min(box.width, Math.max(0, px));
  ctx.save();
  ctx.fillStyle = colour;
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1;
  if (marks.to !== null) {
    const left = inside(toPixel(ax, marks.from));
    ctx.globalAlpha = 0.08;
    ctx.fillRect(box.left + left, box.top, inside(toPixel(ax, marks.to)) - left, box.height);
  }
  for (const [x, alpha] of [
    [marks.from, 1],
    [marks.to, 1],
    [marks.ghost, 0.45],
  ] as const) {
    if (x === null) continue;
    const px = toPixel(ax, x);
    if (!(px >= 0 && px <= box.width)) continue;
    const at = Math.round(box.left + px) + 0.5;
    ctx.globalAlpha = alpha;
    ctx.beginPath();
    ctx.moveTo(at, box.top);
    ctx.lineTo(at, box.top + box.height);
    ctx.stroke();
  }
  ctx.restore();
}
