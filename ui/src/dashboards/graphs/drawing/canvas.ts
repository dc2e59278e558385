// A Pen that draws on a canvas. Details that would be smaller than a pixel are simplified.
import {
  arrowHead,
  follow,
  fontOf,
  measure,
  type BoxStyle,
  type LineStyle,
  type Pen,
  type Points,
  type TextStyle,
} from './pen';
import type { Rect } from './drawing';

const ARROWS_FROM = 0.25; // scale from which on arrow heads are drawn
const HALO = 4;

export class CanvasPen implements Pen {
  readonly width = measure;
  constructor(
    private readonly c: CanvasRenderingContext2D,
    private readonly scale: number,
  ) {}

  box(r: Rect, { radius, fill, stroke, width, dash }: BoxStyle): void {
    const { c } = this;
    c.beginPath();
    if (r.w * this.scale < 6) c.rect(r.x, r.y, r.w, r.h);
    else c.roundRect(r.x, r.y, r.w, r.h, Math.min(radius, r.h / 2));
    if (fill) {
      c.fillStyle = fill;
      c.fill();
    }
    c.strokeStyle = stroke;
    c.lineWidth = width;
    if (dash) c.setLineDash([4, 3]);
    c.stroke();
    if (dash) c.setLineDash([]);
  }

  line(at: Points, { stroke, width, dash, arrow }: LineStyle): void {
    const { c } = this;
    c.beginPath();
    follow(c, at);
    c.strokeStyle = stroke;
    c.lineWidth = Math.max(width, 0.6 / this.scale);
    if (dash) c.setLineDash([3, 3]);
    c.stroke();
    if (dash) c.setLineDash([]);
    if (!arrow || this.scale < ARROWS_FROM) return;
    c.beginPath();
    arrowHead(c, at);
    c.fillStyle = stroke;
    c.fill();
  }

  text(text: string, x: number, y: number, style: TextStyle): void {
    const { c } = this;
    c.font = fontOf(style);
    c.textAlign = style.anchor === 'middle' ? 'center' : style.anchor === 'end' ? 'right' : 'left';
    if (style.halo) {
      c.strokeStyle = style.halo;
      c.lineWidth = HALO;
      c.lineJoin = 'round';
      c.strokeText(text, x, y);
    }
    c.fillStyle = style.colour;
    c.fillText(text, x, y);
  }
}
