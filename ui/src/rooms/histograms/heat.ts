// Draws the histograms of one run as a heat map: steps along x, values along y, the colour shows how many values are in a
// bin. The median, and the band that contains 87 % of the values, are drawn over it.
import { format, partitionPoint, roundAt, toPixel, toValue, type Axis, type Grid, type Range } from '../../public';
import { binAt, isDrawn, lostTo, nanFrom, percentileOf } from './grid';
import { extentOf, heightsOf, unitHeight, type Heights } from './heights';
import {
  bottomTicks,
  boxOf,
  heatColours,
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
import type { Buckets } from './question';
import type { Surface } from './surface';
import { ht } from './texts';

export interface HeatOptions {
  grid: Grid;
  xs: Float64Array;
  x: string;
  zoom: Range | null;
  isShare: boolean;
  isLogY: boolean;
  colour: string;
  look: Look;
  /** pixels at the right that are reserved for the buckets of one step */
  aside: number;
  /** the exact buckets of the marked step, drawn there */
  buckets: () => Buckets | null;
  isOutside?: (step: number) => boolean;
  stepText: (index: number) => string;
  nanText: string;
}

export class Heat implements Picture {
  readonly box: Box;
  readonly values: Axis;
  private readonly time: Axis;
  private readonly heights: Heights;
  readonly extent: { peak: number; floor: number };
  private readonly order: number[]; // indices of the steps that have a position on x, sorted by x

  constructor(
    private readonly o: HeatOptions,
    width: number,
    height: number,
  ) {
    this.box = boxOf(width, height, 48, 12 + o.aside, 8, 22);
    const { left, top, width: w, height: h } = this.box;
    this.values = valueAxis(o.grid, top + h, top);
    this.time = timeAxis(o.xs, left, left + w, o.zoom);
    this.heights = heightsOf(o.isShare, o.isLogY);
    this.extent = extentOf(this.heights, [o.grid]);
    this.order = Array.from(o.xs.keys()).filter((i) => Number.isFinite(o.xs[i]));
  }

  /** The step at a pixel: the area of each step reaches halfway to its neighbours. */
  private stepAt(px: number): number {
    const { order } = this;
    if (!order.length) return -1;
    const pixel = (i: number) => toPixel(this.time, this.o.xs[order[i]]);
    return order[partitionPoint(0, order.length - 1, (i) => !(px <= (pixel(i) + pixel(i + 1)) / 2))];
  }

  paint(s: Surface): void {
    const { grid, look, x } = this.o;
    const { box } = this;
    leftTicks(s, this.values, box, look);
    bottomTicks(s, this.time, box, look, whatOf(x), false);
    if (!grid.steps) return;
    s.pixels(this.cells(), box.left, box.top, box.width, box.height);
    s.within(box.left, box.top, box.width, box.height, () => {
      this.paintLine(s, 4, {});
      this.paintLine(s, 1, { dash: [4, 3] });
      this.paintLine(s, 7, { dash: [4, 3] });
      this.paintNan(s);
    });
  }

  private cells(): ImageData {
    const { grid, colour, look, isOutside } = this.o;
    const { box } = this;
    const width = Math.max(1, Math.round(box.width * Math.min(2, devicePixelRatio || 1)));
    const data = new ImageData(width, grid.bins);
    const colours = heatColours(colour, look.theme.panel, look.isDark);
    let before = -1;
    for (let x = 0; x < width; x++) {
      const i = this.stepAt(box.left + ((x + 0.5) / width) * box.width);
      if (i < 0) continue;
      const faint = isOutside?.(grid.step[i]) ? 0.3 : 1;
      for (let b = 0; b < grid.bins; b++) {
        const at = ((grid.bins - 1 - b) * width + x) * 4;
        if (i === before) {
          data.data.copyWithin(at, at - 4, at);
          continue;
        }
        const u = isDrawn(grid, i) ? unitHeight(this.heights.of(grid, i, b), this.o.isLogY, this.extent) : 0;
        const rgb = colours[Math.min(255, Math.round(Math.min(1, u) * 255))];
        data.data.set(rgb, at);
        data.data[at + 3] = u > 0 ? 255 * faint : 0;
      }
      before = i;
    }
    return data;
  }

  private paintLine(s: Surface, k: number, ink: { dash?: number[] }): void {
    const { grid, xs, look } = this.o;
    let points: number[] = [];
    const stroke = () => {
      // a wide line in the background colour below it, so that it can be seen on pale and on dark cells
      s.path(points, { stroke: look.theme.panel, width: 3, alpha: 0.7 });
      s.path(points, { stroke: look.theme.strong, width: k === 4 ? 1.5 : 1, ...ink });
      points = [];
    };
    for (const i of this.order) {
      const v = percentileOf(grid, i, k);
      if (!Number.isFinite(v)) stroke();
      else points.push(toPixel(this.time, xs[i]), toPixel(this.values, v));
    }
    stroke();
  }

  private paintNan(s: Surface): void {
    const from = nanFrom(this.o.grid);
    if (from < 0) return;
    const { look, xs, nanText } = this.o;
    const x = from === 0 ? this.box.left : toPixel(this.time, xs[from]);
    const right = this.box.left + this.box.width;
    s.rect(x, this.box.top, right - x, this.box.height, { fill: look.theme.bad, alpha: 0.09 });
    s.path([x, this.box.top, x, this.box.top + this.box.height], { stroke: look.theme.bad, dash: [4, 3] });
    // If the label does not fit, a shorter one is drawn. The footer has the whole text.
    const short = lostTo(this.o.grid, from) === 'nan' ? 'NaN' : '';
    const text = textWidth(nanText) + 6 <= right - x ? nanText : short;
    s.text(text, Math.min(x + 6, right - 26), this.box.top + 12, { colour: look.theme.bad });
  }

  over(s: Surface, hit: Hit | null, chosen: number): void {
    if (this.o.aside) this.paintBuckets(s, hit?.index ?? (chosen >= 0 ? chosen : this.o.grid.steps - 1));
    const index = hit?.index ?? chosen;
    const { look } = this.o;
    if (index < 0 || index >= this.o.grid.steps) return;
    const x = toPixel(this.time, this.o.xs[index]);
    const bottom = this.box.top + this.box.height;
    s.path([x, this.box.top, x, bottom], { stroke: look.theme.panel, width: 3, alpha: 0.6 });
    s.path([x, this.box.top, x, bottom], { stroke: look.theme.strong });
    const text = this.o.stepText(index);
    const half = text.length * 3.2 + 5;
    label(
      s,
      text,
      Math.min(Math.max(x, half), this.box.left + this.box.width + 10 - half),
      bottom + 11,
      'center',
      look,
    );
    if (hit) {
      const y = toPixel(this.values, hit.value);
      s.path([x - 4, y, x + 4, y], { stroke: look.theme.strong, width: 2 });
    }
  }

  private paintBuckets(s: Surface, index: number): void {
    const found = this.o.buckets();
    const { grid, look, colour } = this.o;
    const { box } = this;
    if (!found || index < 0) return;
    const left = box.left + box.width + 18;
    const width = this.o.aside - 70;
    // The length of a bar is the density of its bucket and not its count, because buckets may have any width.
    const places = found.buckets.map(([a, b, count]) => {
      const [y0, y1] = [toPixel(this.values, b), toPixel(this.values, a)];
      return { y: y0, height: Math.max(1, y1 - y0), density: count / Math.max(1, y1 - y0) };
    });
    const most = places.reduce((max, { density }) => (Number.isFinite(density) ? Math.max(max, density) : max), 0);
    s.within(left, box.top, width, box.height, () => {
      for (const { y, height, density } of places)
        if (density > 0 && Number.isFinite(y + height))
          s.rect(left, y, (density / most) * width, Math.max(0.75, height - 0.5), { fill: colour, alpha: 0.8 });
    });
    s.path([left, box.top, left, box.top + box.height], { stroke: look.theme.grid });
    for (const [k, name] of [
      [7, '93\u202f%'],
      [4, '50\u202f%'],
      [1, '7\u202f%'],
    ] as const) {
      const v = percentileOf(grid, index, k);
      const y = toPixel(this.values, v);
      if (!(y > box.top && y < box.top + box.height)) continue;
      s.path([left, y, left + width, y], { stroke: look.theme.strong, dash: [2, 2] });
      s.text(`${name} ${format.value(v, 2)}`, left + width + 4, y, { colour: look.theme.ink });
    }
    s.text(ht('buckets', { n: format.count(found.buckets.length) }), left, box.top + box.height + 12, {
      colour: look.theme.ink,
    });
  }

  /** The range of x between two pixels. */
  rangeAt(from: number, to: number): Range | null {
    const { left, width } = this.box;
    const ends = [from, to].map((px) => roundAt(this.time, Math.min(Math.max(px, left), left + width)));
    return ends[0] === ends[1] ? null : ends[0] < ends[1] ? [ends[0], ends[1]] : [ends[1], ends[0]];
  }

  placeOf(index: number, value: number): { px: number; py: number } {
    return { px: toPixel(this.time, this.o.xs[index]), py: toPixel(this.values, value) };
  }

  at(px: number, py: number): Hit | null {
    const { box } = this;
    if (px < box.left - 2 || px > box.left + box.width + 2 || py < box.top - 2 || py > box.top + box.height + 2)
      return null;
    const index = this.stepAt(px);
    const value = toValue(this.values, py);
    return index < 0 || binAt(this.o.grid, value) < -1 ? null : { index, value, px, py };
  }
}
