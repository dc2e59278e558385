// A Pen that writes SVG, and the SVG file of a whole drawing.
import {
  arrowHead,
  FONT,
  follow,
  measure,
  type BoxStyle,
  type LineStyle,
  type Path,
  type Pen,
  type Points,
  type TextStyle,
} from './pen';
import { paint, type Picture } from './paint';
import type { Rect } from './drawing';

const escape = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? c);
const n = (v: number) => v.toFixed(1).replace(/\.0$/, '');

class SvgPath implements Path {
  text = '';
  moveTo(x: number, y: number): void {
    this.text += `M${n(x)} ${n(y)}`;
  }
  lineTo(x: number, y: number): void {
    this.text += `L${n(x)} ${n(y)}`;
  }
  bezierCurveTo(a: number, b: number, c: number, d: number, x: number, y: number): void {
    this.text += `C${n(a)} ${n(b)} ${n(c)} ${n(d)} ${n(x)} ${n(y)}`;
  }
}

class SvgPen implements Pen {
  readonly parts: string[] = [];
  readonly width = measure;

  box(r: Rect, { radius, fill, stroke, width, dash }: BoxStyle): void {
    this.parts.push(
      `<rect x="${n(r.x)}" y="${n(r.y)}" width="${n(r.w)}" height="${n(r.h)}" rx="${n(Math.min(radius, r.h / 2))}" fill="${fill ?? 'none'}" stroke="${stroke}" stroke-width="${width}"${dash ? ' stroke-dasharray="4 3"' : ''}/>`,
    );
  }
  line(at: Points, { stroke, width, dash, arrow }: LineStyle): void {
    const path = new SvgPath();
    follow(path, at);
    this.parts.push(
      `<path d="${path.text}" fill="none" stroke="${stroke}" stroke-width="${width.toFixed(2)}"${dash ? ' stroke-dasharray="3 3"' : ''}/>`,
    );
    if (!arrow) return;
    const head = new SvgPath();
    arrowHead(head, at);
    this.parts.push(`<path d="${head.text}z" fill="${stroke}"/>`);
  }
  text(text: string, x: number, y: number, { size, colour, bold, anchor, halo }: TextStyle): void {
    const around = halo ? ` paint-order="stroke" stroke="${halo}" stroke-width="4" stroke-linejoin="round"` : '';
    const place = anchor && anchor !== 'start' ? ` text-anchor="${anchor}"` : '';
    this.parts.push(
      `<text x="${n(x)}" y="${n(y)}" font-size="${size}" fill="${colour}"${bold ? ' font-weight="600"' : ''}${place}${around}>${escape(text)}</text>`,
    );
  }
}

const MARGIN = 24;

export function graphSvg(picture: Picture, title: string): string {
  const { w, h } = picture.drawing.of;
  const pen = new SvgPen();
  paint(pen, { ...picture, rects: null, fade: 1, hovered: -1 }, { x: 0, y: 0, w, h }, 1);
  const [width, height] = [w + 2 * MARGIN, h + 2 * MARGIN];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" viewBox="${-MARGIN} ${-MARGIN} ${n(width)} ${n(height)}" font-family="${FONT.replace(/'/g, '')}">
<title>${escape(title)}</title>
<rect x="${-MARGIN}" y="${-MARGIN}" width="100%" height="100%" fill="${picture.theme.bg}"/>
${pen.parts.join('\n')}
</svg>`;
}
