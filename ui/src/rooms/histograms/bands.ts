// Draws distributions: percentiles over steps as nested bands, and the median as a line. Either each run has a panel of
// its own, side by side with a common value axis, or all runs are in one panel, with fewer bands.
import { makeAxis, projectionOf, toPixel, toValue, type Axis, type Grid, type Range } from '../../public';
import { isDrawn, lostTo, MEDIAN, nanFrom, nearestStep, percentileOf, PERCENTS } from './grid';
import {
  bottomTicks,
  boxOf,
  label,
  leftTicks,
  timeAxis,
  whatOf,
  type Box,
  type Hit,
  type Look,
  type Picture,
} from './picture';
import type { Surface } from './surface';

export interface Panel {
  name: string;
  colour: string;
  grid: Grid;
  xs: Float64Array;
}
export interface BandOptions {
  panels: readonly Panel[];
  x: string;
  zoomX: Range | null;
  zoomY: Range | null;
  isTogether: boolean;
  sameY: boolean;
  isLog: boolean;
  /** also draw the outermost band, from the least to the greatest value */
  allBands: boolean;
  look: Look;
  stepText: (panel: Panel, index: number) => string;
}

const HEAD = 20; // pixels for the name of a run
const GAP = 28;
const OWN_AXIS = 44; // pixels for the value axis, if each panel has its own
const LEAST = 180; // least width of a panel in pixels
const LETTER = 6.8; // approximate width of a letter in pixels
const OPACITY = [0.13, 0.2, 0.28, 0.36] as const;

/** How many panels fit side by side. */
export const panelsIn = (width: number): number => Math.max(1, Math.floor((width - 60 + GAP) / (LEAST + GAP)));

interface Laid {
  panel: Panel;
  box: Box;
  time: Axis;
  values: Axis;
  order: number[];
}

const finite = (v: number): boolean => Number.isFinite(v);

/**
 * The range of the value axis: the bands from 7 to 93 %, with room for most of the outermost ones. A single step that is
 * far from the others is ignored.
 */
export function valueRange(grids: readonly Grid[], allBands: boolean): Range {
  const lows: number[] = [];
  const highs: number[] = [];
  let least = Infinity;
  let greatest = -Infinity;
  for (const grid of grids)
    for (let i = 0; i < grid.steps; i++) {
      if (!isDrawn(grid, i)) continue;
      lows.push(percentileOf(grid, i, 1));
      highs.push(percentileOf(grid, i, PERCENTS.length - 2));
      least = Math.min(least, percentileOf(grid, i, 0));
      greatest = Math.max(greatest, percentileOf(grid, i, PERCENTS.length - 1));
    }
  if (lows.length === 0) return [0, 1];
  lows.sort((a, b) => a - b);
  highs.sort((a, b) => a - b);
  const quarter = lows.length >> 2;
  const low = lows[quarter];
  const high = highs[highs.length - 1 - quarter];
  const room = 2 * Math.max(0, high - low);
  const from = lows.find((v) => v >= low - room) ?? low;
  const to = highs.findLast((v) => v <= high + room) ?? high;
  const more = (allBands ? 1 : 0.05) * (to - from);
  let range: Range = [Math.max(least, from - more), Math.min(greatest, to + more)];
  if (!(range[0] < range[1])) {
    const around = Math.abs(range[0]) * 0.5 || 0.5;
    range = [range[0] - around, range[0] + around];
  }
  return range;
}

export class BandsPicture implements Picture {
  readonly box: Box;
  readonly laid: Laid[];

  constructor(
    private readonly o: BandOptions,
    width: number,
    height: number,
  ) {
    this.box = boxOf(width, height, 52, 12, o.isTogether ? 8 : HEAD, 22);
    const { panels, isTogether, sameY } = o;
    const count = isTogether ? 1 : Math.max(1, panels.length);
    const gap = sameY || isTogether ? GAP : GAP + OWN_AXIS;
    const each = (this.box.width - gap * (count - 1)) / count;
    const grids = panels.map(({ grid }) => grid);
    const common = valueRange(grids, o.allBands && !isTogether);
    // A run that ended early ends early in its panel, too. Times of day have nothing in common.
    const sameX = o.x !== 'wall';
    const all = concat(panels);
    this.laid = panels.map((panel, k) => {
      const left = this.box.left + (isTogether ? 0 : k * (each + gap));
      const box = { left, top: this.box.top, width: Math.max(10, each), height: this.box.height };
      const range = o.zoomY ?? (sameY || isTogether ? common : valueRange([panel.grid], o.allBands));
      const projection = projectionOf(o.isLog ? 'symlog' : 'linear', range);
      const xs = isTogether || sameX ? all : panel.xs;
      return {
        panel,
        box,
        time: timeAxis(xs, left, left + box.width, o.zoomX),
        values: makeAxis(projection, range, box.top + box.height, box.top),
        order: Array.from(panel.xs.keys()).filter((i) => finite(panel.xs[i])),
      };
    });
  }

  paint(s: Surface): void {
    const { look, isTogether, sameY, x } = this.o;
    this.laid.forEach((laid, k) => {
      const { box, panel } = laid;
      if (k === 0 || !isTogether) {
        if (k === 0 || !sameY) leftTicks(s, laid.values, box, look);
        else this.lines(s, laid);
        bottomTicks(s, laid.time, box, look, whatOf(x), false);
      }
      s.within(box.left, box.top, box.width, box.height, () => {
        this.paintBands(s, laid);
        this.paintNan(s, laid);
        if (!isTogether) this.paintMedian(s, laid);
      });
      if (isTogether) return;
      s.rect(box.left, 4, 10, 10, { fill: panel.colour });
      const room = Math.floor((box.width - 18) / LETTER);
      const name = panel.name.length > room ? `…${panel.name.slice(1 - Math.max(2, room))}` : panel.name;
      s.text(name, box.left + 16, 9.5, { colour: look.theme.strong });
    });
    // no median is below the bands of the other runs
    const { left, top, width, height } = this.box;
    if (isTogether)
      s.within(left, top, width, height, () => {
        for (const laid of this.laid) this.paintMedian(s, laid);
      });
  }

  private lines(s: Surface, laid: Laid): void {
    const none = { ...this.o.look, theme: { ...this.o.look.theme, ink: 'transparent' } };
    leftTicks(s, laid.values, laid.box, none);
  }

  /** The outline of the band between two percentiles. It is split where steps cannot be drawn. */
  private pieces(laid: Laid, low: number, high: number): number[][] {
    const pieces: number[][] = [];
    let upper: number[] = [];
    let lower: number[] = [];
    const end = () => {
      if (upper.length) pieces.push([...upper, ...lower]);
      upper = [];
      lower = [];
    };
    for (const i of laid.order) {
      const [a, b] = [percentileOf(laid.panel.grid, i, low), percentileOf(laid.panel.grid, i, high)];
      if (!isDrawn(laid.panel.grid, i) || !finite(a) || !finite(b)) {
        end();
        continue;
      }
      const x = toPixel(laid.time, laid.panel.xs[i]);
      upper.push(x, toPixel(laid.values, b));
      lower.unshift(x, toPixel(laid.values, a));
    }
    end();
    return pieces;
  }

  private paintBands(s: Surface, laid: Laid): void {
    const { isTogether, allBands, panels } = this.o;
    const { panel } = laid;
    const thin = Math.max(0.02, Math.min(0.14, 0.8 / panels.length)); // many bands above each other are still pale
    const bands = isTogether ? [2] : allBands ? [0, 1, 2, 3] : [1, 2, 3];
    for (const k of bands)
      for (const piece of this.pieces(laid, k, PERCENTS.length - 1 - k)) {
        if (piece.length > 4) s.path(piece, { fill: panel.colour, alpha: isTogether ? thin : OPACITY[k] });
        else s.path(piece, { stroke: panel.colour, width: 6, alpha: OPACITY[k] }); // a single step has no area
      }
  }

  private paintMedian(s: Surface, laid: Laid): void {
    const { panel } = laid;
    let line: number[] = [];
    const stroke = () => {
      if (line.length === 2) s.rect(line[0] - 2, line[1] - 2, 4, 4, { fill: panel.colour });
      else s.path(line, { stroke: panel.colour, width: 1.8 });
      line = [];
    };
    for (const i of laid.order) {
      const v = percentileOf(panel.grid, i, MEDIAN);
      if (!isDrawn(panel.grid, i) || !finite(v)) stroke();
      else line.push(toPixel(laid.time, panel.xs[i]), toPixel(laid.values, v));
    }
    stroke();
  }

  private paintNan(s: Surface, { panel, time, box }: Laid): void {
    const from = nanFrom(panel.grid);
    if (from < 0 || this.o.isTogether) return;
    const { look } = this.o;
    const x = from === 0 ? box.left : toPixel(time, panel.xs[from]);
    s.rect(x, box.top, box.left + box.width - x, box.height, { fill: look.theme.bad, alpha: 0.09 });
    s.path([x, box.top, x, box.top + box.height], { stroke: look.theme.bad, dash: [3, 3] });
    if (lostTo(panel.grid, from) === 'nan')
      s.text('NaN', Math.min(x + 5, box.left + box.width - 26), box.top + 9, { colour: look.theme.bad });
  }

  /** For each panel, in order, the index of its step that is nearest to `step`. */
  stepsAt(step: number): number[] {
    return this.laid.map(({ panel }) => nearestStep(panel.grid, step));
  }

  over(s: Surface, hit: Hit | null, chosen: number): void {
    const step = hit ? this.stepOf(hit) : chosen >= 0 ? this.laid.at(0)?.panel.grid.step[chosen] : undefined;
    if (step === undefined) return;
    this.mark(s, step, hit !== null);
  }

  /** Marks a step in every panel: a vertical line, the median and the middle band. */
  mark(s: Surface, step: number, isPointed: boolean): void {
    const { look, isTogether } = this.o;
    this.laid.forEach((laid, k) => {
      const { panel, box } = laid;
      const i = nearestStep(panel.grid, step);
      if (i < 0) return;
      const x = toPixel(laid.time, panel.xs[i]);
      if (!(x >= box.left - 1 && x <= box.left + box.width + 1)) return;
      if (k === 0 || !isTogether) {
        s.path([x, box.top, x, box.top + box.height], { stroke: look.theme.ink, dash: isPointed ? [] : [3, 3] });
        if (k === 0)
          label(s, this.o.stepText(panel, i), Math.max(box.left + 20, x), box.top + box.height + 11, 'center', look);
      }
      if (!isPointed || !isDrawn(panel.grid, i)) return;
      s.within(box.left - 4, box.top - 4, box.width + 8, box.height + 8, () => {
        for (const p of isTogether ? [MEDIAN] : [2, MEDIAN, 6]) {
          const y = toPixel(laid.values, percentileOf(panel.grid, i, p));
          const size = p === MEDIAN ? 7 : 5;
          s.rect(x - size / 2, y - size / 2, size, size, {
            fill: p === MEDIAN ? panel.colour : look.theme.panel,
            stroke: panel.colour,
          });
        }
      });
    });
  }

  stepOf({ panel = 0, index }: Hit): number | undefined {
    return this.laid.at(panel)?.panel.grid.step[index];
  }

  placeOf(index: number, value: number): { px: number; py: number } {
    const laid = this.laid.at(0);
    if (!laid) return { px: 0, py: 0 };
    return { px: toPixel(laid.time, laid.panel.xs[index]), py: toPixel(laid.values, value) };
  }

  at(px: number, py: number): Hit | null {
    const panel = this.laid.findIndex(({ box }) => px >= box.left - 4 && px <= box.left + box.width + 4);
    if (panel < 0 || py < 0 || py > this.box.top + this.box.height + 4) return null;
    const laid = this.laid[panel];
    let best = -1;
    let least = Infinity;
    for (const i of laid.order) {
      const away = Math.abs(toPixel(laid.time, laid.panel.xs[i]) - px);
      if (away < least) [best, least] = [i, away];
    }
    return best < 0 ? null : { panel, index: best, value: toValue(laid.values, py), px, py };
  }

  /** The ranges of x and of the values between two positions; null outside of all panels. */
  rangeAt(from: { px: number; py: number }, to: { px: number; py: number }): { x: Range; y: Range } | null {
    const laid = this.laid.find(({ box }) => from.px >= box.left - 4 && from.px <= box.left + box.width + 4);
    if (!laid) return null;
    const within = (px: number) => Math.min(Math.max(px, laid.box.left), laid.box.left + laid.box.width);
    const xs = [from, to].map(({ px }) => toValue(laid.time, within(px))).sort((a, b) => a - b);
    const ys = [from, to].map(({ py }) => toValue(laid.values, py)).sort((a, b) => a - b);
    return { x: [xs[0], xs[1]], y: [ys[0], ys[1]] };
  }

  /** The number of steps whose outermost band leaves the value axis, where it is drawn. */
  outside(): number {
    let n = 0;
    if (this.o.isTogether || !this.o.allBands) return n;
    for (const { panel, values } of this.laid)
      for (let i = 0; i < panel.grid.steps; i++) {
        const [low, high] = values.domain;
        if (!isDrawn(panel.grid, i)) continue;
        if (percentileOf(panel.grid, i, 0) < low || percentileOf(panel.grid, i, PERCENTS.length - 1) > high) n++;
      }
    return n;
  }
}

function concat(panels: readonly Panel[]): Float64Array {
  return Float64Array.from(panels.flatMap(({ xs }) => [...xs]));
}
