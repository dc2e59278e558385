// What a graph is drawn with, whatever the paper: boxes, lines and texts. paint.ts says what is drawn where; canvas.ts and
// svg.ts put it on a screen or into a file.
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
  /** at which part of the text its place is */
  anchor?: 'start' | 'middle' | 'end';
  /** a ground around the letters, so that lines below don't cross them */
  halo?: string;
}
/** Points of a line: `count` pairs of `points` from pair `from` on. */
export interface Points {
  points: readonly number[];
  from: number;
  count: number;
}

export interface Pen {
  box(r: Rect, style: BoxStyle): void;
  line(at: Points, style: LineStyle): void;
  /** The text as it is: fit() has cut it. */
  text(text: string, x: number, y: number, style: TextStyle): void;
  /** How wide a text is. */
  width(text: string, style: TextStyle): number;
}

export const fontOf = ({ bold, size }: TextStyle): string => `${bold ? '600 ' : ''}${size}px ${FONT}`;

/** The text cut so that it fits; '' when less than three letters would be left. */
export function fit(pen: Pen, text: string, room: number, style: TextStyle): string {
  const whole = pen.width(text, style);
  if (whole <= room) return text;
  let n = Math.min(text.length - 1, Math.floor((text.length * room) / whole));
  while (n > 2 && pen.width(`${text.slice(0, n)}…`, style) > room) n--;
  return n > 2 ? `${text.slice(0, n)}…` : '';
}

/** A path along the points: straight where it goes straight down, else with a bend between. */
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
/** Measured once for each text and font. */
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
