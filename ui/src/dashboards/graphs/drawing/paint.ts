// Paints a graph: open boxes, lines, their labels, closed boxes and outlines of marked boxes, in this order. Only what is
// visible is painted, and text only if it is large enough to be read. It draws with a Pen, so the same code makes the
// canvas and the SVG file.
import { format } from '../../../public';
import { inkOn, micros, type Colours, type Theme } from './colours';
import { CALL, HEAD, LINE, MARKED, OP, OPEN, PART, SERIES, type Drawing, type Rect } from './drawing';
import { tt } from '../texts';
import { fit, type Pen, type TextStyle } from './pen';

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
  /** positions of boxes during an animation; null if they are at their final positions */
  rects: readonly Rect[] | null;
  /** opacity of lines, 0 to 1: lines appear at the end of an animation */
  fade: number;
}

const TEXT_FROM = 0.45; // scale from which names are drawn
const LABELS_FROM = 0.6;
const MOST_BUSY_LINES = 20000; // most lines that are drawn when each is thinner than a pixel
const NAME = 12; // font sizes of a box's name and of other texts
const AMOUNT = 11;
const SHAPE = 10;
const SIDE = 10; // pixels between a border and a text
const GAP = 8; // pixels between two texts

const lineWidth = (size: number): number => (size > 1 ? Math.min(5, 1.2 + Math.log10(size) * 0.45) : 1.2);

/** The number at the right of a box: its time, how often it is repeated, or its parameters. */
export const amountOf = (drawing: Drawing, i: number, showTime: boolean): string => {
  const { boxes } = drawing.of;
  const time = showTime ? boxes.time[i] : -1;
  if (boxes.kind[i] === SERIES) {
    const n = boxes.children[i];
    return time >= 0 ? `${format.count(n)} × ${micros(time / Math.max(1, n))}` : `×${format.count(n)}`;
  }
  if (time >= 0) return micros(time);
  if (boxes.kind[i] === PART) return `×${format.count(boxes.children[i])}`;
  return boxes.params[i] > 0 ? format.big(boxes.params[i]) : '';
};

/** Labels of lines. They are painted after all lines, so that no line crosses them. */
type Later = (() => void)[];

function paintOpen(pen: Pen, p: Picture, i: number, r: Rect, scale: number, later: Later): void {
  const { theme, drawing } = p;
  const ground = drawing.depth[i] % 2 ? theme.inner : theme.panel;
  pen.box(r, { radius: 10, fill: ground, stroke: theme.line, width: 1 });
  if (scale < TEXT_FROM) return;
  later.push(() => {
    const name: TextStyle = { size: NAME, colour: theme.ink, bold: true, halo: ground };
    const about: TextStyle = { size: AMOUNT, colour: theme.ink2, halo: ground };
    const [base, room] = [r.y + HEAD / 2 + 4, r.w - 40];
    const label = fit(pen, drawing.labels[i], room, name);
    pen.text(label, r.x + 12, base, name);
    const used = pen.width(label, name) + GAP;
    const more = [drawing.text(drawing.of.boxes.op[i]), amountOf(drawing, i, p.showTime)].filter((t) => t).join(' · ');
    const shown = fit(pen, more, room - used, about);
    if (shown) pen.text(shown, r.x + 12 + used, base, about);
    pen.text('−', r.x + r.w - 14, base + 1, { size: 14, colour: theme.ink2, anchor: 'middle', halo: ground });
  });
}

function paintClosed(pen: Pen, p: Picture, i: number, r: Rect, scale: number): void {
  const { theme, drawing } = p;
  const { boxes } = drawing.of;
  const isOp = boxes.kind[i] === OP;
  const fill = p.colours.fill[i] || theme.panel;
  const radius = isOp ? 14 : 6;
  if (boxes.kind[i] === SERIES || boxes.kind[i] === PART)
    for (const k of [2, 1])
      pen.box({ ...r, x: r.x + 4 * k, y: r.y - 3 * k }, { radius, fill: theme.panel, stroke: theme.line, width: 1 });
  pen.box(r, { radius, fill, stroke: theme.line, width: 1, dash: boxes.kind[i] === CALL });
  if (scale < TEXT_FROM) return;
  const ink = p.colours.fill[i] ? inkOn(fill) : theme.ink;
  const name: TextStyle = { size: NAME, colour: ink };
  const small: TextStyle = { size: AMOUNT, colour: p.colours.fill[i] ? ink : theme.ink2, anchor: 'end' };
  const amount = amountOf(drawing, i, p.showTime);
  const base = r.y + r.h / 2 + 4;
  const room = r.w - 2 * SIDE - (amount ? pen.width(amount, small) + GAP : 0);
  const label = fit(pen, isOp ? drawing.labels[i] : `+ ${drawing.labels[i]}`, room, name);
  if (amount) {
    pen.text(label, r.x + SIDE, base, name);
    pen.text(amount, r.x + r.w - SIDE, base, small);
  } else pen.text(label, r.x + r.w / 2, base, { ...name, anchor: 'middle' });
}

function paintLines(pen: Pen, p: Picture, seen: Rect, scale: number, later: Later): void {
  const { drawing, theme } = p;
  const { lines, points } = drawing.of;
  const taken = new Map<number, { left: number; right: number }[]>(); // by y: the ranges of x that labels use
  const isBusy = drawing.lineCount > MOST_BUSY_LINES && scale < 0.3;
  for (let k = 0; k < drawing.lineCount; k++) {
    const from = drawing.firstPoint[k];
    const count = lines.points[k];
    if (count < 2) continue;
    const isMarked = (lines.flags[k] & LINE.marked) !== 0;
    const isNear = p.selected >= 0 && (lines.from[k] === p.selected || lines.to[k] === p.selected);
    if ((isBusy && !isMarked && !isNear) || !drawing.isLineIn(k, seen)) continue;
    const strong = isMarked || (isNear && !p.hasMarks);
    const dash = (lines.flags[k] & LINE.control) !== 0;
    const width = dash ? 1 : lineWidth(lines.size[k]) + (strong ? 0.6 : 0);
    const arrow = (lines.flags[k] & LINE.toBorder) === 0;
    pen.line({ points, from, count }, { stroke: strong ? theme.accent : theme.edge, width, dash, arrow });
    if (!p.labels || scale < LABELS_FROM || dash || lines.flags[k] & (LINE.fromBorder | LINE.up)) continue;
    const shape = drawing.text(lines.shape[k]);
    const text = lines.count[k] > 1 && !shape ? tt('tensors', { n: lines.count[k] }) : shape;
    const [x, y] = [points[2 * from], points[2 * from + 1]];
    if (!text || points[2 * from + 3] - y < 24) continue;
    const place = { left: x + 7, right: x + 7 + text.length * 6 };
    const beside = taken.get(Math.round(y / 12)) ?? [];
    if (beside.some((other) => other.left < place.right && other.right > place.left)) continue;
    taken.set(Math.round(y / 12), [...beside, place]);
    const halo = drawing.groundOf(lines.level[k], theme);
    const style: TextStyle = { size: SHAPE, colour: strong ? theme.accent : theme.ink2, halo };
    later.push(() => pen.text(fit(pen, text, 150, style), x + 7, y + 15, style));
  }
}

function paintRings(pen: Pen, p: Picture, closed: readonly number[], rectOf: (i: number) => Rect, scale: number): void {
  const { drawing, theme } = p;
  const ring = (i: number, stroke: string, width: number) => {
    const r = rectOf(i);
    const out = 3;
    pen.box(
      { x: r.x - out, y: r.y - out, w: r.w + 2 * out, h: r.h + 2 * out },
      {
        radius: drawing.of.boxes.kind[i] === OP ? 17 : 9,
        fill: null,
        stroke,
        width: width / Math.min(1, Math.max(scale, 0.2)),
      },
    );
  };
  for (const i of p.hits) if (drawing.isDrawn(i)) ring(i, theme.mark, 2);
  if (p.hasMarks) for (const i of closed) if (drawing.has(i, MARKED) && i !== p.selected) ring(i, theme.accent, 1);
  if (p.hovered >= 0 && p.hovered !== p.selected && drawing.isDrawn(p.hovered)) ring(p.hovered, theme.edge, 1.5);
  if (p.selected >= 0 && drawing.isDrawn(p.selected)) ring(p.selected, theme.accent, 2.5);
}

/** `seen` is the visible part of the drawing. */
export function paint(pen: Pen, p: Picture, seen: Rect, scale: number): void {
  const { drawing } = p;
  const rectOf = (i: number) => p.rects?.[i] ?? drawing.rect(i);
  const inSight = (r: Rect) =>
    r.x < seen.x + seen.w && r.x + r.w + 8 > seen.x && r.y - 6 < seen.y + seen.h && r.y + r.h > seen.y;
  const closed: number[] = [];
  const later: Later = [];
  for (let i = 0; i < drawing.count; i++) {
    if (!drawing.isDrawn(i)) continue;
    const r = rectOf(i);
    if (!inSight(r)) continue;
    if (drawing.has(i, OPEN)) paintOpen(pen, p, i, r, scale, later);
    else closed.push(i);
  }
  if (p.fade > 0) paintLines(pen, p, seen, scale, later);
  for (const text of later) text();
  for (const i of closed) paintClosed(pen, p, i, rectOf(i), scale);
  paintRings(pen, p, closed, rectOf, scale);
}
