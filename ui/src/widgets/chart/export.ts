// A chart as a picture for a paper: SVG with title, axes and legend. Texts are escaped; what is drawn is what the card
// shows.
import { lonePoints, trace, type Line } from './lines';
import { markPath, marksOf } from './paint';
import type { Plot } from './plot';
import { makeAxis, ticksOf, toPixel } from './scale';

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

/** What of a plot is drawn, at its own size or another one. */
type Drawn = Pick<Plot, 'ax' | 'ay' | 'right' | 'box' | 'data' | 'yTicks' | 'axisOf'>;

export interface Size {
  width: number;
  height: number;
}
const TOP = 34;
const LEAST_BOX = 60; // pixels
const EDGES = { left: 52, right: 18, axis: 40 };

/** The same chart in a box of another size. */
function resized(plot: Plot, width: number, height: number): Drawn {
  const of = (axis: Plot['ax'], from: number, to: number) => ({
    ...makeAxis(axis.projection, axis.domain, from, to),
    most: axis.most,
  });
  const right = plot.right && of(plot.right, height, 0);
  const ay = of(plot.ay, height, 0);
  const box = { ...plot.box, width, height };
  return {
    ax: of(plot.ax, 0, width),
    ay,
    right,
    box,
    data: plot.data,
    yTicks: (axis) => plot.yTicks(axis, height),
    axisOf: (line) => (line.right ? right : null) ?? ay,
  };
}

function pathOf(plot: Drawn, line: Line, y: Float64Array): string {
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

function lineSvg(plot: Drawn, line: Line): string {
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

const USUAL = 720; // pixels of width, at which letters have their own size

/** Without a size it is as large as the chart is on the page. */
export function chartSvg(
  shown: Plot,
  title: string,
  colours: { ink: string; grid: string; panel: string },
  size: Size | null = null,
  most = 40,
): string {
  const entries = legendOf(shown.data.lines);
  const xTitle = shown.data.xTitle || shown.data.xWord;
  const below = xTitle ? 52 : 36;
  const edges = EDGES.left + EDGES.right + (shown.right ? EDGES.axis : 0);
  // letters grow with the picture; the legend takes at most half of it
  const scale = size ? Math.max(1, size.width / USUAL) : 1;
  const wanted = size ? { width: size.width / scale, height: size.height / scale } : null;
  const fit = wanted ? Math.max(0, Math.floor((wanted.height / 2 - TOP - 8) / ROW)) : most;
  const named = entries.slice(0, entries.length > fit ? Math.max(0, fit - 1) : fit);
  const legendHeight = (named.length + (entries.length > named.length ? 1 : 0)) * ROW + 8;
  const plot: Drawn = wanted
    ? resized(
        shown,
        Math.max(LEAST_BOX, wanted.width - edges),
        Math.max(LEAST_BOX, wanted.height - TOP - below - legendHeight),
      )
    : shown;
  const { box } = plot;
  const lines = plot.data.lines;
  const width = box.width + edges;
  const top = TOP;
  const legendTop = top + box.height + below;
  const height = legendTop + legendHeight;
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
  if (entries.length > named.length)
    legend.push(`<text x="68" y="${legendTop + 9 + named.length * ROW}">+ ${entries.length - named.length}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.round(width * scale)}" height="${Math.round(height * scale)}" viewBox="0 0 ${width} ${height}" font-family="${FONT}" font-size="11" fill="${colours.ink}">
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
