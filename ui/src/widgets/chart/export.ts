// A chart as a picture for a paper: SVG with title, axes and legend. Texts are escaped; what is drawn is what the card
// shows.
import { lonePoints, trace, type Line } from './lines';
import { markPath, marksOf } from './paint';
import type { Plot } from './plot';
import { ticksOf, toPixel } from './scale';

const FONT = 'system-ui, sans-serif';
const ROW = 16;
const escape = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? c);

class PathPen {
  text = '';
  moveTo(x: number, y: number): void {
    this.text += `M${x.toFixed(1)} ${y.toFixed(1)}`;
  }
  lineTo(x: number, y: number): void {
    this.text += `L${x.toFixed(1)} ${y.toFixed(1)}`;
  }
}

function pathOf(plot: Plot, line: Line, y: Float64Array): string {
  const pen = new PathPen();
  trace(pen, line, y, plot.ax, plot.axisOf(line));
  return pen.text;
}

const styleOf = (line: Line) =>
  `stroke-width="${line.faint ? 1 : 1.5}"${line.faint ? ' stroke-opacity=".45"' : ''}${line.dash?.length ? ` stroke-dasharray="${line.dash.join(' ')}"` : ''}`;

/** What a legend says: a line's name, or that of its group where lines of a group look alike. */
function legendOf(lines: readonly Line[]): { line: Line; text: string }[] {
  const entries = new Map<string, { line: Line; text: string; n: number }>();
  for (const line of lines) {
    const key = [line.group ?? line.key, line.colour, line.dash?.join(), line.tag, line.faint].join('\n');
    const entry = entries.get(key);
    if (entry) entry.n++;
    else entries.set(key, { line, text: line.name, n: 1 });
  }
  return [...entries.values()].map(({ line, text, n }) => {
    const name = n > 1 ? `${line.group} (${n})` : text;
    return { line, text: line.tag ? `${name} · ${line.tag}` : name };
  });
}

function lineSvg(plot: Plot, line: Line): string {
  let text = '';
  const area = line.band ? { x: line.x, ...line.band } : line.envelope;
  if (area) {
    const back = (a: Float64Array) => Float64Array.from(a).reverse();
    const pen = new PathPen();
    trace(pen, area, area.high, plot.ax, plot.axisOf(line));
    const low = back(area.low);
    back(area.x).forEach(
      (x, i) => Number.isFinite(low[i]) && pen.lineTo(toPixel(plot.ax, x), toPixel(plot.axisOf(line), low[i])),
    );
    text += `<path d="${pen.text}Z" fill="${line.colour}" fill-opacity=".18"/>`;
  }
  if (line.raw && !line.envelope)
    text += `<path d="${pathOf(plot, line, line.raw)}" fill="none" stroke="${line.colour}" stroke-opacity=".25"/>`;
  const axis = plot.axisOf(line);
  for (const i of lonePoints(line))
    text += `<circle cx="${toPixel(plot.ax, line.x[i]).toFixed(1)}" cy="${toPixel(axis, line.y[i]).toFixed(1)}" r="3" fill="${line.colour}"/>`;
  if (!line.band)
    for (const mark of marksOf(line, plot.ax, axis))
      text += `<path d="${markPath(mark)}" fill="${mark.kind === 'nan' ? 'none' : line.colour}" stroke="#d13438" data-mark="${mark.kind}"/>`;
  return `${text}<path d="${pathOf(plot, line, line.y)}" fill="none" stroke="${line.colour}" ${styleOf(line)}/>`;
}

export function chartSvg(
  plot: Plot,
  title: string,
  colours: { ink: string; grid: string; panel: string },
  most = 40,
): string {
  const { box } = plot;
  const lines = plot.data.lines;
  const entries = legendOf(lines);
  const named = entries.slice(0, most);
  const width = box.width + (plot.right ? 110 : 70);
  const top = 34;
  const xTitle = plot.data.xTitle || plot.data.xWord;
  const legendTop = top + box.height + (xTitle ? 52 : 36);
  const height = legendTop + named.length * ROW + (entries.length > most ? ROW : 0) + 8;
  const grid: string[] = [];
  for (const tick of plot.yTicks(plot.ay)) {
    const y = toPixel(plot.ay, tick.v);
    grid.push(
      `<path d="M0 ${y.toFixed(1)}H${box.width}" stroke="${colours.grid}"/><text x="-6" y="${(y + 4).toFixed(1)}" text-anchor="end">${escape(tick.text)}</text>`,
    );
  }
  if (plot.right)
    for (const tick of plot.yTicks(plot.right))
      grid.push(
        `<text x="${box.width + 6}" y="${(toPixel(plot.right, tick.v) + 4).toFixed(1)}">${escape(tick.text)}</text>`,
      );
  for (const tick of ticksOf(plot.ax, Math.floor(box.width / 84), plot.data.xWhat, plot.data.language)) {
    const x = toPixel(plot.ax, tick.v);
    grid.push(`<text x="${x.toFixed(1)}" y="${box.height + 16}" text-anchor="middle">${escape(tick.text)}</text>`);
  }
  if (xTitle)
    grid.push(`<text x="${box.width / 2}" y="${box.height + 32}" text-anchor="middle">${escape(xTitle)}</text>`);
  const { level, yTitle } = plot.data;
  if (level !== undefined && level !== null)
    grid.push(
      `<path d="M0 ${toPixel(plot.ay, level).toFixed(1)}H${box.width}" stroke="${colours.ink}" stroke-dasharray="5 3"/>`,
    );
  if (yTitle) grid.push(`<text x="4" y="12">${escape(yTitle)}</text>`);
  const legend = named.map(
    ({ line, text }, i) =>
      `<path d="M48 ${legendTop + 5 + i * ROW}h16" stroke="${line.colour}" ${styleOf(line)}/><text x="70" y="${legendTop + 9 + i * ROW}">${escape(text)}</text>`,
  );
  if (entries.length > most)
    legend.push(`<text x="68" y="${legendTop + 9 + most * ROW}">+ ${entries.length - most}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${FONT}" font-size="11" fill="${colours.ink}">
<rect width="100%" height="100%" fill="${colours.panel}"/>
<text x="52" y="20" font-size="13" font-weight="600">${escape(title)}</text>
<clipPath id="c"><rect width="${box.width}" height="${box.height}"/></clipPath>
<g transform="translate(52 ${top})">${grid.join('')}<g clip-path="url(#c)" stroke-linejoin="round">${[...lines]
    .reverse()
    .map((line) => lineSvg(plot, line))
    .join('')}</g></g>
${legend.join('')}
</svg>`;
}
