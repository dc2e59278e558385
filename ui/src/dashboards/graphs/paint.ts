// Draws a graph on a canvas: open boxes, lines, closed boxes, in this order; only what is in sight, and texts only where
// they can be read.
import { format } from '../../public';
import { CALL, HEAD, LINE, MARKED, OP, OPEN, SERIES, type Drawing, type Rect } from './drawing';
import { inkOn, micros, type Colours, type Theme } from './colours';

export interface Camera {
  x: number; // of the drawing, at the left upper corner of the canvas
  y: number;
  scale: number;
}

export interface Picture {
  drawing: Drawing;
  theme: Theme;
  colours: Colours;
  selected: number;
  hovered: number;
  hits: ReadonlySet<number>;
  hasMarks: boolean;
  labels: boolean;
  showTime: boolean;
  /** where boxes are while they move; null: at their places */
  rects: readonly Rect[] | null;
  /** 0 to 1: lines come back at the end of a motion */
  fade: number;
}

export const FONT = "system-ui, 'PingFang SC', 'Microsoft YaHei', 'Noto Sans SC', 'Noto Sans CJK SC', sans-serif";
const TEXT_FROM = 0.45; // scale from which names are drawn
const LABELS_FROM = 0.6;

/** What both a canvas and an SVG file can do. */
export interface Pen {
  box(r: Rect, radius: number, fill: string, stroke: string, width: number, dash?: boolean): void;
  line(
    points: readonly number[],
    from: number,
    count: number,
    stroke: string,
    width: number,
    dash: boolean,
    arrow: boolean,
  ): void;
  text(
    text: string,
    x: number,
    y: number,
    size: number,
    colour: string,
    bold: boolean,
    most: number,
    end?: boolean,
  ): void;
}

export const lineWidth = (size: number): number => (size > 1 ? Math.min(5, 1.2 + Math.log10(size) * 0.45) : 1.2);

export const amountOf = (drawing: Drawing, i: number, showTime: boolean): string => {
  const { boxes } = drawing.of;
  if (showTime && boxes.time[i] >= 0) return micros(boxes.time[i]);
  if (boxes.kind[i] === SERIES) return `×${format.count(boxes.children[i])}`;
  return boxes.params[i] > 0 ? format.big(boxes.params[i]) : '';
};

function paintOpen(pen: Pen, p: Picture, i: number, r: Rect, scale: number): void {
  const { theme, drawing } = p;
  const { boxes } = drawing.of;
  pen.box(r, 10, drawing.depth[i] % 2 ? theme.inner : theme.panel, theme.line, 1);
  if (scale < TEXT_FROM) return;
  const label = drawing.labels[i];
  const amount = amountOf(drawing, i, p.showTime);
  const op = drawing.text(boxes.op[i]);
  const about = [op, boxes.kind[i] === SERIES && amount.startsWith('×') ? '' : '', amount].filter((t) => t).join(' · ');
  const room = r.w - 40;
  pen.text(label, r.x + 12, r.y + HEAD / 2 + 4, 12, theme.ink, true, room);
  const used = Math.min(room, label.length * 7.2 + 20);
  if (about && used < room - 30)
    pen.text(about, r.x + 12 + used, r.y + HEAD / 2 + 4, 11, theme.ink2, false, room - used);
  pen.text('−', r.x + r.w - 20, r.y + HEAD / 2 + 5, 14, theme.ink2, false, 20);
}

function paintClosed(pen: Pen, p: Picture, i: number, r: Rect, scale: number): void {
  const { theme, drawing } = p;
  const { boxes } = drawing.of;
  const isOp = boxes.kind[i] === OP;
  const fill = p.colours.fill[i] || theme.panel;
  const radius = isOp ? 14 : 6;
  if (boxes.kind[i] === SERIES)
    for (const k of [2, 1]) pen.box({ ...r, x: r.x + 4 * k, y: r.y - 3 * k }, radius, theme.panel, theme.line, 1);
  pen.box(r, radius, fill, p.colours.fill[i] ? theme.line : theme.line, 1, boxes.kind[i] === CALL);
  if (scale < TEXT_FROM) return;
  const ink = p.colours.fill[i] ? inkOn(fill) : theme.ink;
  const amount = amountOf(drawing, i, p.showTime);
  const room = amount ? amount.length * 6.5 + 8 : 0;
  const left = isOp ? 12 : 22;
  if (!isOp) pen.text('+', r.x + 8, r.y + r.h / 2 + 4.5, 13, ink, false, 14);
  pen.text(drawing.labels[i], r.x + left, r.y + r.h / 2 + 4, 12, ink, false, r.w - left - 10 - room);
  if (amount)
    pen.text(amount, r.x + r.w - 10, r.y + r.h / 2 + 4, 11, p.colours.fill[i] ? ink : theme.ink2, false, room, true);
}

function paintLines(pen: Pen, p: Picture, seen: Rect, scale: number): void {
  const { drawing, theme } = p;
  const { lines, points } = drawing.of;
  const isBusy = drawing.lineCount > 20000 && scale < 0.3;
  for (let k = 0; k < drawing.lineCount; k++) {
    const from = drawing.firstPoint[k];
    const count = lines.points[k];
    if (count < 2) continue;
    let [left, right] = [Infinity, -Infinity];
    for (let j = from; j < from + count; j++) {
      left = Math.min(left, points[2 * j]);
      right = Math.max(right, points[2 * j]);
    }
    const [y1, y2] = [points[2 * from + 1], points[2 * (from + count - 1) + 1]];
    if (right < seen.x || left > seen.x + seen.w || Math.max(y1, y2) < seen.y || Math.min(y1, y2) > seen.y + seen.h)
      continue;
    const isMarked = (lines.flags[k] & LINE.marked) !== 0;
    const isNear = p.selected >= 0 && (lines.from[k] === p.selected || lines.to[k] === p.selected);
    if (isBusy && !isMarked && !isNear) continue;
    const strong = isMarked || (isNear && !p.hasMarks);
    const control = (lines.flags[k] & LINE.control) !== 0;
    const width = control ? 1 : lineWidth(lines.size[k]) + (strong ? 0.6 : 0);
    const isArrow = (lines.flags[k] & LINE.toBorder) === 0;
    pen.line(points, from, count, strong ? theme.accent : theme.edge, width, control, isArrow);
    if (!p.labels || scale < LABELS_FROM || lines.flags[k] & (LINE.fromBorder | LINE.up)) continue;
    const shape = drawing.text(lines.shape[k]);
    const text = lines.count[k] > 1 && !shape ? `${lines.count[k]} ×` : shape;
    if (!text || control) continue;
    const [x, y] = [points[2 * from], points[2 * from + 1]];
    if (points[2 * from + 3] - y < 24) continue;
    pen.text(text, x + 6, y + 15, 10, strong ? theme.accent : theme.ink2, false, 150);
  }
}

/** `seen`: the part of the drawing that is in sight. */
export function paint(pen: Pen, p: Picture, seen: Rect, scale: number): void {
  const { drawing, theme } = p;
  const rectOf = (i: number) => p.rects?.[i] ?? drawing.rect(i);
  const inSight = (r: Rect) =>
    r.x < seen.x + seen.w && r.x + r.w + 8 > seen.x && r.y - 6 < seen.y + seen.h && r.y + r.h > seen.y;
  const closed: number[] = [];
  for (let i = 0; i < drawing.count; i++) {
    if (!drawing.isDrawn(i)) continue;
    const r = rectOf(i);
    if (!inSight(r)) continue;
    if (drawing.has(i, OPEN)) paintOpen(pen, p, i, r, scale);
    else closed.push(i);
  }
  if (p.fade > 0) paintLines(pen, p, seen, scale);
  for (const i of closed) paintClosed(pen, p, i, rectOf(i), scale);
  const ring = (i: number, colour: string, width: number) => {
    const r = rectOf(i);
    const out = 3;
    pen.box(
      { x: r.x - out, y: r.y - out, w: r.w + 2 * out, h: r.h + 2 * out },
      drawing.of.boxes.kind[i] === OP ? 17 : 9,
      'none',
      colour,
      width / Math.min(1, Math.max(scale, 0.2)),
    );
  };
  for (const i of p.hits) if (drawing.isDrawn(i)) ring(i, theme.mark, 2);
  if (p.hasMarks) for (const i of closed) if (drawing.has(i, MARKED) && i !== p.selected) ring(i, theme.accent, 1);
  if (p.hovered >= 0 && p.hovered !== p.selected && drawing.isDrawn(p.hovered)) ring(p.hovered, theme.edge, 1.5);
  if (p.selected >= 0 && drawing.isDrawn(p.selected)) ring(p.selected, theme.accent, 2.5);
}

// ---- on a canvas ----

/** A path along the points: straight where it goes straight down, else with a bend between. */
export interface Path {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  bezierCurveTo(a: number, b: number, c: number, d: number, x: number, y: number): void;
}
export function follow(path: Path, points: readonly number[], from: number, count: number): void {
  let [x1, y1] = [points[2 * from], points[2 * from + 1]];
  path.moveTo(x1, y1);
  for (let j = from + 1; j < from + count; j++) {
    const [x2, y2] = [points[2 * j], points[2 * j + 1]];
    const middle = (y1 + y2) / 2;
    if (Math.abs(x1 - x2) < 0.5) path.lineTo(x2, y2);
    else path.bezierCurveTo(x1, middle, x2, middle, x2, y2);
    [x1, y1] = [x2, y2];
  }
}

const ARROW = 5;
const widths = new Map<string, number>();

export class CanvasPen implements Pen {
  constructor(
    private readonly c: CanvasRenderingContext2D,
    private readonly scale: number,
  ) {}

  box(r: Rect, radius: number, fill: string, stroke: string, width: number, dash = false): void {
    const { c } = this;
    c.beginPath();
    if (r.w * this.scale < 6) c.rect(r.x, r.y, r.w, r.h);
    else c.roundRect(r.x, r.y, r.w, r.h, Math.min(radius, r.h / 2));
    if (fill !== 'none') {
      c.fillStyle = fill;
      c.fill();
    }
    c.strokeStyle = stroke;
    c.lineWidth = width;
    if (dash) c.setLineDash([4, 3]);
    c.stroke();
    if (dash) c.setLineDash([]);
  }

  line(
    points: readonly number[],
    from: number,
    count: number,
    stroke: string,
    width: number,
    dash: boolean,
    arrow: boolean,
  ): void {
    const { c } = this;
    c.beginPath();
    follow(c, points, from, count);
    c.strokeStyle = stroke;
    c.lineWidth = Math.max(width, 0.6 / this.scale);
    if (dash) c.setLineDash([3, 3]);
    c.stroke();
    if (dash) c.setLineDash([]);
    if (!arrow || this.scale < 0.25) return;
    const last = from + count - 1;
    const [x, y] = [points[2 * last], points[2 * last + 1]];
    const turn = y >= points[2 * last - 1] ? -1 : 1;
    c.beginPath();
    c.moveTo(x, y);
    c.lineTo(x - ARROW, y + turn * ARROW * 1.3);
    c.lineTo(x + ARROW, y + turn * ARROW * 1.3);
    c.fillStyle = stroke;
    c.fill();
  }

  private width(text: string, font: string): number {
    const key = font + text;
    let width = widths.get(key);
    if (width === undefined) {
      if (widths.size > 20000) widths.clear();
      width = this.c.measureText(text).width;
      widths.set(key, width);
    }
    return width;
  }

  text(
    text: string,
    x: number,
    y: number,
    size: number,
    colour: string,
    bold: boolean,
    most: number,
    end = false,
  ): void {
    const { c } = this;
    const font = `${bold ? '600 ' : ''}${size}px ${FONT}`;
    c.font = font;
    c.fillStyle = colour;
    c.textAlign = end ? 'right' : 'left';
    let shown = text;
    if (this.width(text, font) > most) {
      let n = Math.max(1, Math.floor((text.length * most) / this.width(text, font)) - 1);
      while (n > 2 && this.width(`${text.slice(0, n)}…`, font) > most) n--;
      if (n <= 2) return;
      shown = `${text.slice(0, n)}…`;
    }
    c.fillText(shown, x, y);
  }
}
