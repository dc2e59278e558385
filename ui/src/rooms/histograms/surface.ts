// The drawing surface of pictures of histograms: a canvas for the page, or SVG for a file. It has only the operations
// that these pictures need.

export interface Ink {
  fill?: string;
  stroke?: string;
  width?: number;
  alpha?: number; // opacity of fill and stroke
  dash?: readonly number[];
}
export interface Lettering {
  colour: string;
  align?: 'left' | 'center' | 'right';
  bold?: boolean;
}
export interface Surface {
  /** A line through the points x, y, x, y, ... A filled one is closed from its end to its start. */
  path(points: readonly number[], ink: Ink): void;
  rect(x: number, y: number, width: number, height: number, ink: Ink): void;
  text(text: string, x: number, y: number, lettering: Lettering): void;
  /** Draws an image, scaled without smoothing. */
  pixels(data: ImageData, x: number, y: number, width: number, height: number): void;
  /** Clips what `draw` draws to the rectangle. */
  within(x: number, y: number, width: number, height: number, draw: () => void): void;
}

const FONT = 'system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans SC", sans-serif';
const SIZE = 11;

function canvasOf(data: ImageData): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = data.width;
  canvas.height = data.height;
  canvas.getContext('2d')?.putImageData(data, 0, 0);
  return canvas;
}

export class CanvasSurface implements Surface {
  constructor(private readonly ctx: CanvasRenderingContext2D) {
    ctx.lineJoin = 'round';
    ctx.textBaseline = 'middle';
  }

  private ink({ fill, stroke, width = 1, alpha = 1, dash = [] }: Ink, path?: Path2D): void {
    const { ctx } = this;
    ctx.globalAlpha = alpha;
    if (fill !== undefined) {
      ctx.fillStyle = fill;
      if (path) ctx.fill(path);
      else ctx.fill();
    }
    if (stroke !== undefined) {
      ctx.strokeStyle = stroke;
      ctx.lineWidth = width;
      ctx.setLineDash([...dash]);
      if (path) ctx.stroke(path);
      else ctx.stroke();
    }
    ctx.globalAlpha = 1;
  }

  path(points: readonly number[], ink: Ink): void {
    this.ctx.beginPath();
    for (let i = 0; i + 1 < points.length; i += 2) this.ctx.lineTo(points[i], points[i + 1]);
    this.ink(ink);
  }
  rect(x: number, y: number, width: number, height: number, ink: Ink): void {
    this.ctx.beginPath();
    this.ctx.rect(x, y, width, height);
    this.ink(ink);
  }
  text(text: string, x: number, y: number, { colour, align = 'left', bold = false }: Lettering): void {
    this.ctx.font = `${bold ? '600 ' : ''}${SIZE}px ${FONT}`;
    this.ctx.textAlign = align;
    this.ctx.fillStyle = colour;
    this.ctx.fillText(text, x, y);
  }
  pixels(data: ImageData, x: number, y: number, width: number, height: number): void {
    this.ctx.imageSmoothingEnabled = false;
    this.ctx.drawImage(canvasOf(data), x, y, width, height);
  }
  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.ctx.save();
    this.ctx.beginPath();
    this.ctx.rect(x, y, width, height);
    this.ctx.clip();
    draw();
    this.ctx.restore();
  }
}

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? c);
const short = (v: number) => String(Math.round(v * 100) / 100);

export class SvgSurface implements Surface {
  private readonly parts: string[] = [];
  private clips = 0;

  private ink({ fill, stroke, width = 1, alpha = 1, dash = [] }: Ink): string {
    const edge = stroke === undefined ? '' : ` stroke="${escaped(stroke)}" stroke-width="${width}"`;
    const dashes = dash.length ? ` stroke-dasharray="${dash.join(' ')}"` : '';
    return ` fill="${escaped(fill ?? 'none')}"${edge}${dashes}${alpha < 1 ? ` opacity="${alpha}"` : ''}`;
  }
  path(points: readonly number[], ink: Ink): void {
    let d = '';
    for (let i = 0; i + 1 < points.length; i += 2) d += `${i ? 'L' : 'M'}${short(points[i])} ${short(points[i + 1])}`;
    if (d) this.parts.push(`<path d="${d}"${this.ink(ink)}/>`);
  }
  rect(x: number, y: number, width: number, height: number, ink: Ink): void {
    this.parts.push(
      `<rect x="${short(x)}" y="${short(y)}" width="${short(Math.max(0, width))}" height="${short(Math.max(0, height))}"${this.ink(ink)}/>`,
    );
  }
  text(text: string, x: number, y: number, { colour, align = 'left', bold = false }: Lettering): void {
    const anchor = { left: 'start', center: 'middle', right: 'end' }[align];
    this.parts.push(
      `<text x="${short(x)}" y="${short(y)}" dy=".35em" text-anchor="${anchor}" fill="${escaped(colour)}"${bold ? ' font-weight="600"' : ''}>${escaped(text)}</text>`,
    );
  }
  pixels(data: ImageData, x: number, y: number, width: number, height: number): void {
    this.parts.push(
      `<image x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" preserveAspectRatio="none" style="image-rendering:pixelated" href="${canvasOf(data).toDataURL('image/png')}"/>`,
    );
  }
  within(x: number, y: number, width: number, height: number, draw: () => void): void {
    const id = `c${this.clips++}`;
    this.parts.push(
      `<clipPath id="${id}"><rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"/></clipPath><g clip-path="url(#${id})">`,
    );
    draw();
    this.parts.push('</g>');
  }

  /** The text of the whole SVG file, with a title above the picture. */
  file(width: number, height: number, title: string, colours: { panel: string; strong: string }): string {
    const top = 30;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height + top}" viewBox="0 0 ${width} ${height + top}" font-family="system-ui, sans-serif" font-size="${SIZE}" stroke-linejoin="round">
<rect width="100%" height="100%" fill="${colours.panel}"/>
<text x="12" y="20" font-size="13" font-weight="600" fill="${colours.strong}">${escaped(title)}</text>
<g transform="translate(0 ${top})">${this.parts.join('\n')}</g>
</svg>`;
  }
}
