// Draws the axes of a chart: grid lines, labels, titles, and the level that lines are compared with.
import type { Box, PlotData, PlotTheme } from './plot';
import { ticksOf, toPixel, type Axis, type Tick } from './scale';

export const TOP = 6; // pixels above the box of the lines
export const BOTTOM = 20; // below it: the labels of x
export const TITLE = 15; // below these: the title of x
export const FONT = '11px system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans SC", sans-serif';

interface Axes {
  box: Box;
  ax: Axis;
  ay: Axis;
  right: Axis | null;
  data: PlotData;
}

/** `margin`: the room at the right of the box. */
export function drawAxes(
  ctx: CanvasRenderingContext2D,
  { box, ax, ay, right, data }: Axes,
  theme: PlotTheme,
  margin: number,
  labels: { y: readonly Tick[]; right: readonly Tick[] },
): void {
  ctx.clearRect(0, 0, box.left + box.width + margin, box.height + TOP + BOTTOM + TITLE);
  ctx.font = FONT;
  ctx.fillStyle = theme.ink;
  ctx.strokeStyle = theme.grid;
  ctx.lineWidth = 1;
  ctx.textAlign = 'right';
  ctx.textBaseline = 'middle';
  ctx.beginPath();
  for (const tick of labels.y) {
    const py = Math.round(box.top + toPixel(ay, tick.v)) + 0.5;
    if (py < box.top - 1 || py > box.top + box.height + 1) continue;
    ctx.moveTo(box.left, py);
    ctx.lineTo(box.left + box.width, py);
    const textY = Math.min(py, box.top + box.height - 4); // the word for x stands just below
    ctx.fillText(tick.text, box.left - 6, textY, box.left - 8);
  }
  ctx.stroke();
  if (right) {
    ctx.textAlign = 'left';
    for (const tick of labels.right)
      ctx.fillText(tick.text, box.left + box.width + 6, box.top + toPixel(right, tick.v), margin - 8);
  }
  drawLevel(ctx, box, ay, theme, data.level);
  drawX(ctx, box, ax, data, margin);
}

function drawX(ctx: CanvasRenderingContext2D, box: Box, ax: Axis, data: PlotData, margin: number): void {
  ctx.textBaseline = 'top';
  ctx.textAlign = 'center';
  if (data.xWord && !data.xTitle) {
    ctx.textAlign = 'right';
    ctx.fillText(data.xWord, box.left - 10, box.top + box.height + 6, box.left - 12);
    ctx.textAlign = 'center';
  }
  const room = data.xWhat === 'relative' || data.xWhat === 'wall' ? 84 : 62;
  let free = -Infinity;
  for (const tick of ticksOf(ax, Math.floor(box.width / room), data.xWhat, data.language)) {
    const px = box.left + toPixel(ax, tick.v);
    const half = ctx.measureText(tick.text).width / 2;
    if (px < box.left - 1 || px > box.left + box.width + 1) continue;
    const at = Math.min(Math.max(px, half), box.left + box.width + margin - half);
    if (at - half < free) continue;
    ctx.fillText(tick.text, at, box.top + box.height + 6);
    free = at + half + 8;
  }
  if (data.xTitle) ctx.fillText(data.xTitle, box.left + box.width / 2, box.top + box.height + BOTTOM, box.width);
}

function drawLevel(
  ctx: CanvasRenderingContext2D,
  box: Box,
  ay: Axis,
  theme: PlotTheme,
  level: number | null | undefined,
): void {
  const py = level === undefined || level === null ? NaN : Math.round(box.top + toPixel(ay, level)) + 0.5;
  if (!(py >= box.top && py <= box.top + box.height)) return;
  ctx.strokeStyle = theme.ink;
  ctx.setLineDash([5, 3]);
  ctx.beginPath();
  ctx.moveTo(box.left, py);
  ctx.lineTo(box.left + box.width, py);
  ctx.stroke();
  ctx.setLineDash([]);
}
