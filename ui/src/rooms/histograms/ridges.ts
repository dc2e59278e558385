// Draws the histograms of one run: one step behind the other (offset), or all on one base line (overlay). Old steps are
// pale and at the back, new ones in full colour at the front.
import { makeAxis, projectionOf, ticksOf, toPixel, toValue, type Axis, type Grid } from '../../public';
import { binAt, isDrawn, nanFrom } from './grid';
import { extentOf, heightsOf, unitHeight, type Heights } from './heights';
import {
  bottomTicks,
  boxOf,
  label,
  leftTicks,
  textWidth,
  timeAxis,
  valueAxis,
  whatOf,
  type Box,
  type Hit,
  type Look,
  type Picture,
} from './picture';
import type { Surface } from './surface';

export interface RidgeOptions {
  grid: Grid;
  xs: Float64Array;
  x: string; // the unit of `xs`
  isOverlay: boolean;
  isShare: boolean;
  isLogY: boolean;
  colour: string;
  look: Look;
  /** Is this step outside of the selected range? */
  isOutside?: (step: number) => boolean;
  stepText: (index: number) => string;
  nanText: string;
  /** the same in fewer letters */
  nanShort: string;
}

const PALE = 0.22;
const RIDGE = 0.42; // height of the greatest peak, as a share of the picture's height
const APART = 7; // pixels between two base lines from which on outlines have full opacity

export class Ridges implements Picture {
  readonly box: Box;
  private readonly values: Axis;
  private readonly time: Axis;
  private readonly heights: Heights;
  private readonly extent: { peak: number; floor: number };
  private readonly ridge: number; // height of the greatest peak in pixels
  /** Opacity of the outlines. If there are many steps close together, full outlines would cover everything. */
  private readonly edge: number;
  private readonly from: number; // index of the first of the last steps that have nothing but NaN; -1 if there are none

  constructor(
    private readonly o: RidgeOptions,
    width: number,
    height: number,
  ) {
    const { grid, isOverlay } = o;
    this.box = isOverlay ? boxOf(width, height, 48, 12, 8, 22) : boxOf(width, height, 12, 56, 8, 22);
    const { left, top, width: w, height: h } = this.box;
    this.values = valueAxis(grid, left, left + w);
    const count = grid.steps;
    this.ridge = isOverlay || count < 2 ? h : h * RIDGE;
    this.time = timeAxis(o.xs, top + this.ridge, top + h);
    this.edge = Math.min(1, (h - this.ridge) / Math.max(1, count - 1) / APART);
    this.heights = heightsOf(o.isShare, o.isLogY);
    this.extent = extentOf(this.heights, [grid]);
    this.from = nanFrom(grid);
  }

  private baseline(i: number): number {
    if (this.o.isOverlay || this.o.grid.steps < 2) return this.box.top + this.box.height;
    const y = toPixel(this.time, this.o.xs[i]);
    return Number.isFinite(y) ? y : this.box.top + this.ridge;
  }
  private topOf(i: number, bin: number): number {
    const h = this.heights.of(this.o.grid, i, bin);
    return this.baseline(i) - unitHeight(h, this.o.isLogY, this.extent) * this.ridge;
  }

  /** The outline of a step, through the centres of its bins. */
  private outline(i: number): number[] {
    const { grid } = this.o;
    const base = this.baseline(i);
    const points = [toPixel(this.values, grid.edges[0]), base];
    for (let b = 0; b < grid.bins; b++)
      points.push(
        (toPixel(this.values, grid.edges[b]) + toPixel(this.values, grid.edges[b + 1])) / 2,
        this.topOf(i, b),
      );
    points.push(toPixel(this.values, grid.edges[grid.bins]), base);
    return points;
  }

  paint(s: Surface): void {
    const { grid, look, isOverlay } = this.o;
    const { box } = this;
    bottomTicks(s, this.values, box, look, 'number', true);
    if (isOverlay) this.countTicks(s);
    s.within(box.left, box.top, box.width, box.height + 1, () => {
      for (let i = 0; i < grid.steps; i++) if (isDrawn(grid, i)) this.paintStep(s, i);
      if (!isOverlay || this.from === 0) this.paintNan(s);
    });
    if (!isOverlay) this.stepTicks(s);
  }

  private paintStep(s: Surface, i: number): void {
    const { grid, colour, look, isOverlay, isOutside } = this.o;
    const age = grid.steps > 1 ? i / (grid.steps - 1) : 1;
    const faint = isOutside?.(grid.step[i]) ? 0.2 : 1;
    const alpha = (PALE + (1 - PALE) * age) * faint;
    const points = this.outline(i);
    if (isOverlay) {
      s.path(points, { stroke: colour, alpha, width: i === grid.steps - 1 ? 1.5 : 1 });
      return;
    }
    s.path(points, { fill: look.theme.panel });
    s.path(points, { fill: colour, alpha: alpha * 0.92 });
    s.path(points, { stroke: look.theme.panel, alpha: alpha * 0.92 * this.edge });
  }

  private paintNan(s: Surface): void {
    if (this.from < 0) return;
    const { look, nanText } = this.o;
    const y = this.from === 0 ? this.box.top : this.baseline(this.from);
    const bottom = this.box.top + this.box.height;
    s.rect(this.box.left, y, this.box.width, bottom - y, { fill: look.theme.bad, alpha: 0.09 });
    s.path([this.box.left, y, this.box.left + this.box.width, y], { stroke: look.theme.bad, dash: [4, 3] });
    // If the label does not fit, a shorter one is drawn. The footer has the whole text.
    const text = textWidth(nanText) + 8 <= this.box.width ? nanText : this.o.nanShort;
    s.text(text, this.box.left + 8, Math.min(y + 12, bottom - 8), { colour: look.theme.bad });
  }

  private countTicks(s: Surface): void {
    const { box } = this;
    const [from, to] = [box.top + box.height, box.top];
    const axis = this.o.isLogY
      ? makeAxis(projectionOf('log', null), [this.extent.floor, this.extent.peak], from, to)
      : makeAxis(projectionOf('linear', null), [0, this.extent.peak], from, to);
    leftTicks(s, axis, box, this.o.look, this.o.isShare ? 'percent' : 'number');
  }

  private stepTicks(s: Surface): void {
    const { grid, look, x } = this.o;
    const right = this.box.left + this.box.width + 6;
    if (grid.steps < 2) {
      if (grid.steps) s.text(this.o.stepText(0), right, this.baseline(0) - 4, { colour: look.theme.ink });
      return;
    }
    const room = this.box.height - this.ridge;
    for (const { v, text } of ticksOf(this.time, Math.max(2, Math.floor(room / 34)), whatOf(x), look.language)) {
      const y = toPixel(this.time, v);
      if (y >= this.box.top + this.ridge - 1 && y <= this.box.top + this.box.height + 1)
        s.text(text, right, y, { colour: look.theme.ink });
    }
  }

  over(s: Surface, hit: Hit | null, chosen: number): void {
    const { grid } = this.o;
    if (chosen >= 0 && chosen < grid.steps && chosen !== hit?.index) this.mark(s, chosen, null);
    if (hit && hit.index < grid.steps) this.mark(s, hit.index, hit);
  }

  private mark(s: Surface, i: number, hit: Hit | null): void {
    const { grid, colour, look, isOverlay } = this.o;
    const { box } = this;
    const base = this.baseline(i);
    s.within(box.left, 0, box.width, box.top + box.height + 1, () => {
      const points = this.outline(i);
      if (!isDrawn(grid, i)) s.path([box.left, base, box.left + box.width, base], { stroke: look.theme.strong });
      else if (isOverlay) s.path(points, { stroke: look.theme.strong, width: 2 });
      else s.path(points, { fill: colour, stroke: look.theme.strong, width: 1.25 });
      if (!hit) return;
      const bin = binAt(grid, hit.value);
      if (bin < 0 || !isDrawn(grid, i)) return;
      const x = toPixel(this.values, hit.value);
      s.path([x, base, x, this.topOf(i, bin)], {
        stroke: isOverlay ? look.theme.strong : look.theme.panel,
        dash: [2, 2],
      });
    });
    if (!isOverlay) label(s, this.o.stepText(i), box.left + box.width + 2, base, 'left', look);
  }

  placeOf(index: number, value: number): { px: number; py: number } {
    const bin = binAt(this.o.grid, value);
    return { px: toPixel(this.values, value), py: bin < 0 ? this.baseline(index) : this.topOf(index, bin) };
  }

  /** The frontmost step whose area contains the position, or the step with the nearest base line. */
  at(px: number, py: number): Hit | null {
    const { grid, isOverlay } = this.o;
    const { box } = this;
    if (px < box.left || px > box.left + box.width || py < 0 || py > box.top + box.height + 8 || !grid.steps)
      return null;
    const value = toValue(this.values, px);
    const bin = binAt(grid, value);
    let best = -1;
    let least = Infinity;
    for (let i = grid.steps - 1; i >= 0; i--) {
      const top = isDrawn(grid, i) && bin >= 0 ? this.topOf(i, bin) : this.baseline(i);
      const away = isOverlay
        ? Math.abs(top - py)
        : py >= top && py <= this.baseline(i)
          ? 0
          : Math.min(Math.abs(top - py), Math.abs(this.baseline(i) - py));
      if (away < least) [best, least] = [i, away];
      if (least === 0) break;
    }
    return best < 0 ? null : { index: best, value, px, py };
  }
}
