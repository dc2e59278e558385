// The interface that a graph is drawn with: boxes, lines and texts. paint.ts decides what is drawn where; canvas.ts and
// svg.ts implement the interface for the screen and for a file.
import type { Rect } from './drawing';

export const FONT = "system-ui, 'PingFang SC', 'Microsoft YaHei', 'Noto Sans SC', 'Noto Sans CJK SC', sans-serif";

export interface BoxStyle {
  radius: number;
  fill: string | null;
  stroke: string;
  width: number;
  dash?: boolean;
}
export interface LineStyle {
  stroke: string;
  width: number;
  dash: boolean;
  arrow: boolean;
}
export interface TextStyle {
  size: number;
  colour: string;
  bold?: boolean;
  /** which part of the text is at its position */
  anchor?: 'start' | 'middle' | 'end';
  /** an outline around the letters in this colour, so that lines below do not make them hard to read */
  halo?: string;
}
/** The points of a line: `count` pairs of `points`, starting with pair `from`. */
export interface Points {
  points: readonly number[];
  from: number;
  count: number;
}

export interface Pen {
  box(r: Rect, style: BoxStyle): void;
  line(at: Points, style: LineStyle): void;
  /** Draws the whole text: use fit() before to shorten it. */
  text(text: string, x: number, y: number, style: TextStyle): void;
  /** The width of a text. */
  width(text: string, style: TextStyle): number;
}

export const fontOf = ({ bold, size }: TextStyle): string => `${bold ? '600 ' : ''}${size}px ${FONT}`;

/** Shortens the text so that it fits; '' if fewer than three letters would be left. */
export function fit(pen: Pen, text: string, room: number, style: TextStyle): string {
  const whole = pen.width(text, style);
  if (whole <= room) return text;
  let n = Math.min(text.length - 1, Math.floor((text.length * room) / whole));
  while (n > 2 && pen.width(`${text.slice(0, n)}…`, style) > room) n--;
  return n > 2 ? `${text.slice(0, n)}…` : '';
}

/** A path of a canvas or of SVG. follow() adds a line to it: straight where the line goes straight down, else curved. */
export interface Path {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  bezierCurveTo(a: number, b: number, c: number, d: number, x: number, y: number): void;
}
export function follow(path: Path, { points, from, count }: Points): void {
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

const ARROW = { half: 5, length: 6.5 };
/** The head of an arrow at the end of a line. */
export function arrowHead(path: Path, { points, from, count }: Points): void {
  const last = from + count - 1;
  const [x, y] = [points[2 * last], points[2 * last + 1]];
  const back = y >= points[2 * last - 1] ? -ARROW.length : ARROW.length;
  path.moveTo(x, y);
  path.lineTo(x - ARROW.half, y + back);
  path.lineTo(x + ARROW.half, y + back);
}

const MOST_WIDTHS = 20000;
let ruler: CanvasRenderingContext2D | null = null;
const widths = new Map<string, number>();
/** The width of a text, cached by text and font. */
export function measure(text: string, style: TextStyle): number {
  const font = fontOf(style);
  const key = font + text;
  const known = widths.get(key);
  if (known !== undefined) return known;
  ruler ??= document.createElement('canvas').getContext('2d');
  if (!ruler) return text.length * style.size * 0.56;
  ruler.font = font;
  const width = ruler.measureText(text).width;
  if (widths.size > MOST_WIDTHS) widths.clear();
  widths.set(key, width);
  return width;
}
