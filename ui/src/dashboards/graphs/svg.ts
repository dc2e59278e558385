// A drawing as an SVG file: the same pens, other paper.
import { FONT, follow, paint, type Path, type Pen, type Picture } from './paint';
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

  box(r: Rect, radius: number, fill: string, stroke: string, width: number, dash = false): void {
    this.parts.push(
      `<rect x="${n(r.x)}" y="${n(r.y)}" width="${n(r.w)}" height="${n(r.h)}" rx="${n(Math.min(radius, r.h / 2))}" fill="${fill}" stroke="${stroke}" stroke-width="${width}"${dash ? ' stroke-dasharray="4 3"' : ''}/>`,
    );
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
    const path = new SvgPath();
    follow(path, points, from, count);
    this.parts.push(
      `<path d="${path.text}" fill="none" stroke="${stroke}" stroke-width="${width.toFixed(2)}"${dash ? ' stroke-dasharray="3 3"' : ''}/>`,
    );
    if (!arrow) return;
    const last = from + count - 1;
    const [x, y] = [points[2 * last], points[2 * last + 1]];
    const turn = y >= points[2 * last - 1] ? -6.5 : 6.5;
    this.parts.push(`<path d="M${n(x)} ${n(y)}l-5 ${turn}h10z" fill="${stroke}"/>`);
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
    const letters = Math.max(3, Math.floor(most / (size * 0.56)));
    const shown = text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
    this.parts.push(
      `<text x="${n(x)}" y="${n(y)}" font-size="${size}" fill="${colour}"${bold ? ' font-weight="600"' : ''}${end ? ' text-anchor="end"' : ''}>${escape(shown)}</text>`,
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
