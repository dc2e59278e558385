// Draws rows of the timeline on a canvas, and finds what is under the pointer. Rectangles that touch and look alike are
// drawn as one, so that a lane costs at most one rectangle for each of its pixels.
import type { Curve, Rects } from '../shared/columns';
import { KINDS, type Colours } from '../kinds';
import { LANE, PAD, type Row } from './timeline_rows';
import { partitionPoint, type ProfileStep, type ProfileTrack } from '../../../public';
import type { FlowRow, PathPiece, WaitRow } from '../types';
import type { SliceId, Span } from '../view.svelte';

/** Search results: all slices of some names, and single slices. */
export interface Hits {
  names: ReadonlySet<number>;
  slices: ReadonlySet<number>; // keys
}
export const sliceKey = (track: number, index: number): number => track * 2 ** 32 + index;

/** What is drawn on a canvas: rows, moved up by `scroll`, over the time from `from` on. */
export interface Scene {
  width: number;
  height: number;
  scroll: number;
  from: number;
  perPixel: number;
  rows: readonly Row[];
  tracks: ReadonlyMap<number, ProfileTrack>;
  rects: ReadonlyMap<number, Rects>;
  curves: ReadonlyMap<number, Curve>;
  /** tracks that stand for a folded group */
  folded: ReadonlyMap<number, readonly number[]>;
  /** what slices are called, by the number of their name */
  labels: readonly string[];
  colours: Colours;
  selected: SliceId | null;
  hovered: SliceId | null;
  /** null: nothing was looked for */
  hits: Hits | null;
  range: Span | null;
  steps: readonly ProfileStep[];
  flows: readonly FlowRow[];
  /** waits inside collectives: hatched */
  waits: readonly WaitRow[];
  /** the critical path of a step */
  path: readonly PathPiece[];
  ticks: readonly number[];
}
type Context = CanvasRenderingContext2D;

const FONT = '11px system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans SC", sans-serif';
const LEAST_LABEL = 6; // letters: a name cut to fewer is left out
const FAINT = 0.22;
const SYNC = KINDS.indexOf('sync');
const ALIKE = 0.15; // difference of opacity below which neighbours are drawn as one

/** Widths of letters in that font: they differ threefold, and Chinese ones are twice as wide as the average. */
const widths = new Map<string, number>();
const widthIn = (c: Context) => (letter: string) => {
  const known = widths.get(letter);
  if (known !== undefined) return known;
  const { width } = c.measureText(letter);
  widths.set(letter, width);
  return width;
};

/** As much of a name as fits; "" where too little would be left. */
export function labelFor(name: string, pixels: number, widthOf: (letter: string) => number): string {
  const room = pixels - 8;
  const dots = widthOf('…');
  let wide = 0;
  let at = 0;
  let [fits, letters] = [0, 0]; // how much of the name fits beside the dots
  for (const letter of name) {
    wide += widthOf(letter);
    if (wide > room) return letters + 1 >= LEAST_LABEL ? `${name.slice(0, fits)}…` : '';
    at += letter.length;
    if (wide + dots <= room) [fits, letters] = [at, letters + 1];
  }
  return name;
}

interface Label {
  text: string;
  x: number;
  y: number;
  colour: string;
}

export function paintScene(c: Context, s: Scene): void {
  c.fillStyle = s.colours.panel;
  c.fillRect(0, 0, s.width, s.height);
  for (const row of s.rows) if (row.kind === 'group') band(c, s, row);
  grid(c, s);
  shade(c, s);
  c.font = FONT;
  c.textBaseline = 'middle';
  const labels: Label[] = [];
  for (const row of s.rows) {
    const top = row.top - s.scroll;
    if (row.kind === 'counter') curve(c, s, row, top);
    else if (row.kind === 'track') track(c, s, row.id, top + PAD, LANE, row.lanes, labels);
    else {
      const stand = s.folded.get(row.id) ?? [];
      const height = stand.length > 1 ? 9 : 18;
      stand.forEach((id, i) => track(c, s, id, top + 5 + i * 10, height, 1, labels));
    }
    c.fillStyle = s.colours.soft;
    c.fillRect(0, top + row.height - 1, s.width, 1);
  }
  if (s.waits.length) hatchWaits(c, s);
  for (const { text, x, y, colour } of labels) {
    c.fillStyle = colour;
    c.fillText(text, x, y);
  }
  flows(c, s);
  if (s.path.length) criticalPath(c, s);
  edges(c, s);
}

function band(c: Context, s: Scene, { top, height }: Row): void {
  c.fillStyle = s.colours.bg;
  c.fillRect(0, top - s.scroll, s.width, height);
}
function grid(c: Context, s: Scene): void {
  c.fillStyle = s.colours.soft;
  for (const at of s.ticks) c.fillRect(Math.round((at - s.from) / s.perPixel), 0, 1, s.height);
}
function shade(c: Context, s: Scene): void {
  if (!s.range) return;
  const [x0, x1] = s.range.map((ps) => (ps - s.from) / s.perPixel);
  c.globalAlpha = s.colours.dark ? 0.16 : 0.08;
  c.fillStyle = s.colours.accent;
  c.fillRect(x0, 0, x1 - x0, s.height);
  c.globalAlpha = 1;
}
function edges(c: Context, s: Scene): void {
  if (!s.range) return;
  c.fillStyle = s.colours.accent;
  for (const ps of s.range) c.fillRect(Math.round((ps - s.from) / s.perPixel) - 0.5, 0, 1.5, s.height);
}

/** The first rectangle of a lane that ends after a time, and the lane's end. */
function lane(r: Rects, depth: number): [first: number, end: number] {
  const before = (d: number) => partitionPoint(0, r.n, (i) => r.depth[i] < d);
  return [before(depth), before(depth + 1)];
}
const firstAfter = (r: Rects, first: number, end: number, ps: number): number =>
  partitionPoint(first, end, (i) => r.start[i] + r.duration[i] < ps);

function track(c: Context, s: Scene, id: number, top: number, laneHeight: number, most: number, labels: Label[]): void {
  const r = s.rects.get(id);
  if (!r) return loading(c, s, top, laneHeight);
  const lanes = Math.min(r.lanes, most);
  for (let d = 0; d < lanes; d++) {
    const y = top + d * laneHeight;
    if (y > s.height || y + laneHeight < 0) continue;
    paintLane(c, s, r, lane(r, d), y, laneHeight - (laneHeight > 12 ? 2 : 1), labels);
  }
}
/** Draws a placeholder where data is still missing, so that it does not look like a place without slices. */
function loading(c: Context, s: Scene, top: number, height: number): void {
  c.fillStyle = s.colours.soft;
  c.fillRect(0, top + height / 2 - 1, s.width, 2);
}

/** What slices are called is added to `labels`: it is drawn above what is hatched. */
function paintLane(
  c: Context,
  s: Scene,
  r: Rects,
  [first, end]: [number, number],
  y: number,
  h: number,
  labels: Label[],
): void {
  const { from, perPixel, width, hits, colours } = s;
  const to = from + width * perPixel;
  let runFrom = 0;
  let runTo = -1;
  let runKind = -1;
  let runAlpha = 1;
  const flush = () => {
    if (runTo < runFrom) return;
    c.globalAlpha = runAlpha;
    c.fillStyle = colours.fill[runKind] ?? colours.fill[0];
    c.fillRect(runFrom, y, runTo - runFrom, h);
    runTo = runFrom - 1;
  };
  const named: number[] = [];
  for (let i = firstAfter(r, first, end, from); i < end && r.start[i] <= to; i++) {
    const x0 = Math.max(-2, (r.start[i] - from) / perPixel);
    const x1 = Math.min(width + 2, (r.start[i] + r.duration[i] - from) / perPixel);
    const isHit = !hits || hits.names.has(r.name[i]) || hits.slices.has(sliceKey(r.track, r.index[i]));
    const alpha = (r.count[i] > 1 ? 0.3 + 0.7 * r.busy[i] : 1) * (isHit ? 1 : FAINT);
    const wide = x1 - x0;
    if (wide < 3) {
      const right = Math.max(x1, x0 + 1);
      if (r.kind[i] === runKind && x0 <= runTo + 0.7 && Math.abs(alpha - runAlpha) < ALIKE) {
        runTo = Math.max(runTo, right);
        continue;
      }
      flush();
      runFrom = x0;
      runTo = right;
      runKind = r.kind[i];
      runAlpha = alpha;
      continue;
    }
    flush();
    c.globalAlpha = alpha;
    c.fillStyle = colours.fill[r.kind[i]] ?? colours.fill[0];
    c.fillRect(x0, y, wide - 0.8, h);
    if (r.kind[i] === SYNC && wide > HATCH) hatch(c, colours.panel, x0, x1 - 0.8, y, h);
    if (wide > 30 && r.count[i] === 1 && isHit) named.push(i);
  }
  flush();
  c.globalAlpha = 1;
  if (h > 12)
    for (const i of named) {
      const x0 = Math.max(0, (r.start[i] - from) / perPixel);
      const x1 = Math.min(width, (r.start[i] + r.duration[i] - from) / perPixel);
      const text = labelFor(s.labels[r.name[i]] ?? '', x1 - x0, widthIn(c));
      if (text) labels.push({ text, x: x0 + 5, y: y + h / 2 + 0.5, colour: colours.text[r.kind[i]] ?? colours.ink });
    }
  outline(c, s, r, first, end, y, h, s.hovered, 1);
  outline(c, s, r, first, end, y, h, s.selected, 2);
}

function outline(
  c: Context,
  s: Scene,
  r: Rects,
  first: number,
  end: number,
  y: number,
  h: number,
  of: SliceId | null,
  line: number,
): void {
  if (of?.[0] !== r.track) return;
  for (let i = firstAfter(r, first, end, s.from); i < end && r.start[i] <= s.from + s.width * s.perPixel; i++) {
    if (r.index[i] !== of[1]) continue;
    const x = (r.start[i] - s.from) / s.perPixel;
    c.strokeStyle = s.colours.ink;
    c.lineWidth = line;
    c.strokeRect(x, y - 0.5, Math.max(2, r.duration[i] / s.perPixel - 0.8), h + 1);
    return;
  }
}

function curve(c: Context, s: Scene, row: Row, top: number): void {
  const of = s.curves.get(row.id);
  const about = s.tracks.get(row.id);
  if (!of || !about) return loading(c, s, top, row.height);
  const low = Math.min(0, about.least);
  const high = Math.max(about.greatest, low + 1e-12);
  const room = row.height - 8;
  const y = (v: number) => top + 4 + room * (1 - (v - low) / (high - low));
  const colour = s.colours.fill[13];
  c.fillStyle = colour;
  c.globalAlpha = 0.22;
  c.beginPath();
  let x = 0;
  let last = y(low);
  c.moveTo(0, y(0));
  for (let i = 0; i < of.n; i++) {
    x = (of.time[i] - s.from) / s.perPixel;
    c.lineTo(x, last); // the value holds until the next one
    last = y(of.high[i]);
    c.lineTo(x, last);
    last = y(of.last[i]);
  }
  c.lineTo(Math.max(x, s.width), last);
  c.lineTo(Math.max(x, s.width), y(0));
  c.fill();
  c.globalAlpha = 1;
  c.strokeStyle = colour;
  c.lineWidth = 1.2;
  c.beginPath();
  for (let i = 0; i < of.n; i++) {
    x = (of.time[i] - s.from) / s.perPixel;
    if (i === 0) c.moveTo(x, y(of.last[i]));
    else c.lineTo(x, last);
    if (of.low[i] !== of.high[i]) {
      c.lineTo(x, y(of.low[i]));
      c.lineTo(x, y(of.high[i]));
    }
    last = y(of.last[i]);
    c.lineTo(x, last);
  }
  c.lineTo(Math.max(x, s.width), last);
  c.stroke();
}

/** Draws the row of steps above all tracks, on a canvas of its own. */
export function paintSteps(c: Context, s: Scene, height: number): void {
  c.fillStyle = s.colours.panel;
  c.fillRect(0, 0, s.width, height);
  c.font = FONT;
  c.textBaseline = 'middle';
  let before = -1;
  for (const { name, startPs, durationPs } of s.steps) {
    const x0 = (startPs - s.from) / s.perPixel;
    const x1 = (startPs + durationPs - s.from) / s.perPixel;
    if (x1 < 0 || x0 > s.width || (x1 - before < 1 && x1 - x0 < 1)) continue;
    before = x1;
    c.fillStyle = s.colours.fill[11];
    c.fillRect(x0, 4, Math.max(1, x1 - x0 - 1), height - 8);
    const text = labelFor(name, Math.min(x1, s.width) - Math.max(x0, 0), widthIn(c));
    if (!text) continue;
    c.fillStyle = s.colours.text[11];
    c.fillText(text, Math.max(0, x0) + 5, height / 2 + 0.5);
  }
}

/** The top of a lane of a track on the canvas; undefined where the track has no row. */
function laneTops(s: Scene): (track: number, depth: number) => number | undefined {
  const rowOf = new Map(s.rows.filter(({ kind }) => kind !== 'group').map((row) => [row.id, row]));
  return (track, depth) => {
    const row = rowOf.get(track);
    return row && row.top - s.scroll + PAD + Math.min(depth, row.lanes - 1) * LANE;
  };
}

const HATCH = 6; // pixels between two lines
/** Hatching over a rectangle: the slice waits there. */
function hatch(c: Context, colour: string, x0: number, x1: number, y: number, h: number): void {
  c.save();
  c.beginPath();
  c.rect(x0, y, x1 - x0, h);
  c.clip();
  c.strokeStyle = colour;
  c.lineWidth = 1.5;
  c.globalAlpha = 0.6; // a dark label is read above dark lines
  c.beginPath();
  // lines stay where they are while the timeline moves below them: they begin at multiples of the distance
  for (let x = Math.floor((x0 - h) / HATCH) * HATCH; x < x1; x += HATCH) {
    c.moveTo(x, y + h);
    c.lineTo(x + h, y);
  }
  c.stroke();
  c.restore();
}
function hatchWaits(c: Context, s: Scene): void {
  const topOf = laneTops(s);
  for (const [track, depth, start, duration] of s.waits) {
    const y = topOf(track, depth);
    const x0 = Math.max(0, (start - s.from) / s.perPixel);
    const x1 = Math.min(s.width, (start + duration - s.from) / s.perPixel);
    if (y !== undefined && y < s.height && y + LANE > 0 && x1 - x0 >= 3) hatch(c, s.colours.panel, x0, x1, y, LANE - 2);
  }
}

/** Draws the critical path: a line along the slices on it, and a line from each piece to the next one if that is on another track. */
function criticalPath(c: Context, s: Scene): void {
  const topOf = laneTops(s);
  const x = (ps: number) => (ps - s.from) / s.perPixel;
  c.fillStyle = s.colours.path;
  c.strokeStyle = s.colours.path;
  c.lineWidth = 1.5;
  let drawn = -Infinity; // the right end of the last mark
  let last: { track: number; y: number; right: number } | null = null;
  for (const [track, depth, start, duration, , isGuess] of s.path) {
    const x0 = x(start);
    if (x0 > s.width) break;
    const top = topOf(track, depth);
    const x1 = x(start + duration);
    if (x1 < 0 || top === undefined) {
      last = null;
      continue;
    }
    const y = top + LANE - 3.5;
    // pieces of one lane that are closer than a pixel are one line
    const left: number = last?.y === y && x0 - last.right < 1 ? last.right : x0;
    // many that are narrower than a pixel, in changing lanes: a mark for each pixel
    if (x1 - left >= 0.5 || x1 - drawn >= 1) {
      c.fillRect(left, y, Math.max(1, x1 - left), 3.5);
      drawn = x1;
    }
    // between lanes of one track nothing is drawn: the slices themselves show how they nest
    if (last && last.track !== track) {
      c.setLineDash(isGuess ? [3, 3] : []);
      c.beginPath();
      c.moveTo(x0, last.y + 1.75);
      c.lineTo(x0, y + 1.75);
      c.stroke();
    }
    last = { track, y, right: Math.max(left, x1) };
  }
  c.setLineDash([]);
}

function flows(c: Context, s: Scene): void {
  if (s.flows.length === 0) return;
  const topOf = laneTops(s);
  const place = (id: number, ps: number, depth: number) => {
    const top = topOf(id, depth);
    return top === undefined ? undefined : { x: (ps - s.from) / s.perPixel, y: top + LANE / 2 - 1 };
  };
  c.strokeStyle = s.colours.ink2;
  c.fillStyle = s.colours.ink2;
  c.lineWidth = 1.2;
  for (const [t0, , p0, d0, t1, , p1, d1] of s.flows) {
    const [a, b] = [place(t0, p0, d0), place(t1, p1, d1)];
    if (!a || !b || Math.max(a.x, b.x) < 0 || Math.min(a.x, b.x) > s.width) continue;
    const bend = Math.max(12, Math.min(60, Math.abs(b.x - a.x) / 2));
    // leaves between two lanes: through the middle of the slice it would strike out its name
    const y = a.y + (b.y < a.y ? -LANE / 2 : LANE / 2);
    c.beginPath();
    c.moveTo(a.x, y);
    c.bezierCurveTo(a.x + bend, y, b.x - bend, b.y, b.x, b.y);
    c.stroke();
    c.beginPath();
    c.moveTo(b.x, b.y);
    c.lineTo(b.x - 6, b.y - 3.5);
    c.lineTo(b.x - 6, b.y + 3.5);
    c.fill();
  }
}

/** A rectangle under the pointer. */
export interface Under {
  rects: Rects;
  i: number;
  row: Row;
}
const NEAR = 3; // pixels

/** The rectangle at a place of the canvas; null where there is none. */
export function sliceAt(s: Scene, x: number, y: number): Under | null {
  const at = y + s.scroll;
  const row = s.rows.find(({ top, height }) => at >= top && at < top + height);
  const rects = row?.kind === 'track' ? s.rects.get(row.id) : undefined;
  if (!row || !rects) return null;
  const depth = Math.min(Math.floor((at - row.top - PAD) / LANE), row.lanes - 1);
  const [first, end] = lane(rects, depth);
  const ps = s.from + x * s.perPixel;
  const slack = NEAR * s.perPixel;
  let best = -1;
  let nearest = slack;
  for (let i = firstAfter(rects, first, end, ps - slack); i < end && rects.start[i] <= ps + slack; i++) {
    const far = Math.max(rects.start[i] - ps, ps - rects.start[i] - rects.duration[i], 0);
    if (far <= nearest) [best, nearest] = [i, far];
    if (far === 0) break;
  }
  return best < 0 ? null : { rects, i: best, row };
}

/** The rectangle of the first lane that goes on at a time or is the next one after it; -1: none before the end. */
export function nearestIn(r: Rects, from: number, to: number): number {
  const [first, end] = lane(r, 0);
  const i = firstAfter(r, first, end, from);
  return i < end && r.start[i] < to ? i : -1;
}

/** The rectangle before or after one in its lane (dx), or the one around it or the first inside (dy); -1: none. */
export function beside(r: Rects, index: number, dx: number, dy: number): number {
  const at = r.index.indexOf(index);
  if (at < 0) return -1;
  const depth = r.depth[at] + dy;
  if (dy === 0) {
    const next = at + dx;
    return next >= 0 && next < r.n && r.depth[next] === depth ? next : -1;
  }
  const [first, end] = lane(r, depth);
  const i = firstAfter(r, first, end, r.start[at]);
  return i < end && r.start[i] < r.start[at] + Math.max(1, r.duration[at]) ? i : -1;
}
