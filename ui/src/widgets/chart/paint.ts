// The lines of a chart as strokes on a canvas: bands and envelopes first, then raw lines, then the lines themselves,
// then what marks single points.
import { badPoints, lonePoints, trace, type Line } from './lines';
import type { PlotTheme } from './plot';
import { toPixel, type Axis } from './scale';

interface Axes {
  ax: Axis;
  left: Axis;
  right: Axis; // of lines on the second y axis
}

/** In steps, so that it can be spread over frames; `show` is called when all is there. */
export function* paintLines(
  ctx: CanvasRenderingContext2D,
  lines: readonly Line[],
  axes: Axes,
  theme: PlotTheme,
  show: () => void,
): Generator<void, void, void> {
  const { ax } = axes;
  const axisOf = (line: Line) => (line.right ? axes.right : axes.left);
  const many = lines.length > 60;
  ctx.lineJoin = 'round';
  for (const line of lines) {
    const area = line.band ? { x: line.x, ...line.band } : line.envelope;
    if (!area) continue;
    fillBand(ctx, line.colour, area, ax, axisOf(line));
    yield;
  }
  ctx.lineWidth = 1;
  if (lines.length <= 200)
    for (const line of lines) {
      if (!line.raw || line.envelope) continue;
      ctx.globalAlpha = many ? 0.12 : 0.25;
      ctx.strokeStyle = line.colour;
      ctx.beginPath();
      trace(ctx, line, line.raw, ax, axisOf(line));
      ctx.stroke();
      yield;
    }
  const alpha = lines.length > 300 ? 0.55 : many ? 0.8 : 1;
  for (let i = lines.length - 1; i >= 0; i--) {
    const line = lines[i];
    ctx.globalAlpha = line.faint ? 0.45 : alpha;
    ctx.lineWidth = many || line.faint ? 1 : 1.5;
    ctx.strokeStyle = line.colour;
    ctx.setLineDash(line.dash ?? []);
    ctx.beginPath();
    trace(ctx, line, line.y, ax, axisOf(line));
    ctx.stroke();
    yield;
  }
  ctx.globalAlpha = 1;
  ctx.setLineDash([]);
  for (const line of lines) drawEnds(ctx, line, ax, axisOf(line), many, theme);
  show();
}

function fillBand(
  ctx: CanvasRenderingContext2D,
  colour: string,
  area: NonNullable<Line['envelope']>,
  ax: Axis,
  ay: Axis,
): void {
  const { x, low, high } = area;
  ctx.fillStyle = colour;
  ctx.globalAlpha = 0.18;
  ctx.beginPath();
  let open = false;
  for (let i = 0; i < x.length; i++) {
    if (!Number.isFinite(high[i])) continue;
    const px = toPixel(ax, x[i]);
    const py = toPixel(ay, high[i]);
    if (open) ctx.lineTo(px, py);
    else ctx.moveTo(px, py);
    open = true;
  }
  for (let i = x.length - 1; i >= 0; i--) {
    if (!Number.isFinite(low[i])) continue;
    const py = toPixel(ay, low[i]);
    ctx.lineTo(toPixel(ax, x[i]), Number.isFinite(py) ? py : 1e4);
  }
  ctx.fill();
}

/** A dot where a live run is now, one for a single point, and a mark for each value that is not finite. */
function drawEnds(
  ctx: CanvasRenderingContext2D,
  line: Line,
  ax: Axis,
  ay: Axis,
  many: boolean,
  theme: PlotTheme,
): void {
  const n = line.x.length;
  if (n === 0) return;
  ctx.fillStyle = line.colour;
  const dot = (i: number) => {
    ctx.beginPath();
    ctx.arc(toPixel(ax, line.x[i]), toPixel(ay, line.y[i]), 3, 0, 7);
    ctx.fill();
  };
  if (n === 1 || (line.live && !many)) dot(n - 1);
  if (many || line.band) return;
  for (const i of lonePoints(line)) dot(i);
  ctx.fillStyle = line.colour;
  ctx.strokeStyle = theme.bad;
  ctx.lineWidth = 1.25;
  for (const mark of marksOf(line, ax, ay)) {
    const path = new Path2D(markPath(mark));
    if (mark.kind !== 'nan') ctx.fill(path);
    ctx.stroke(path);
  }
}

export interface Mark {
  px: number;
  py: number;
  kind: 'nan' | 'plus' | 'minus';
}

/** As SVG has it: a cross for NaN, triangles that point to where infinities went. */
export function markPath({ px, py, kind }: Mark): string {
  if (kind === 'nan') return `M${px - 4} ${py - 4}l8 8m0 -8l-8 8`;
  const up = kind === 'plus' ? 1 : -1;
  return `M${px} ${py - 5 * up}l4.5 ${8.5 * up}h-9z`;
}

const APART = 9; // pixels: marks of one kind are side by side, not on top of each other

/** Marks for what is not finite: NaN at the height of the last real value, infinities at the edge they left by. Each
 * kind has its own places, so that none hides another. */
export function marksOf(line: Line, ax: Axis, ay: Axis): Mark[] {
  const bottom = toPixel(ay, ay.domain[0]);
  const marks: Mark[] = [];
  const taken = { nan: -Infinity, plus: -Infinity, minus: -Infinity };
  for (const bad of badPoints(line)) {
    const kind = bad.v === Infinity ? 'plus' : bad.v === -Infinity ? 'minus' : 'nan';
    const px = toPixel(ax, bad.x);
    if (px - taken[kind] < APART && px >= taken[kind]) continue;
    taken[kind] = px;
    const at = kind === 'plus' ? 6 : kind === 'minus' ? bottom - 6 : toPixel(ay, bad.y);
    marks.push({ px, py: Math.min(Math.max(Number.isFinite(at) ? at : bottom, 6), bottom - 4), kind });
  }
  return marks;
}
