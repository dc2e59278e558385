// Draws the histograms of several runs, one step of each, as step-shaped outlines over each other.
import { makeAxis, projectionOf, toPixel, toValue, type Axis, type Grid } from '../../public';
import { binAt, isDrawn } from './grid';
import { extentOf, heightsOf, unitHeight, type Heights } from './heights';
import { bottomTicks, boxOf, leftTicks, valueAxis, type Box, type Hit, type Look, type Picture } from './picture';
import type { Surface } from './surface';

export interface Outline {
  name: string;
  colour: string;
  grid: Grid;
  index: number; // index of the shown step
}
export interface OutlineOptions {
  lines: readonly Outline[];
  isShare: boolean;
  isLogY: boolean;
  look: Look;
}

export class Outlines implements Picture {
  readonly box: Box;
  private readonly values: Axis;
  private readonly counts: Axis;
  private readonly heights: Heights;
  private readonly extent: { peak: number; floor: number };

  constructor(
    private readonly o: OutlineOptions,
    width: number,
    height: number,
  ) {
    this.box = boxOf(width, height, 48, 12, 8, 22);
    const { left, top, width: w, height: h } = this.box;
    this.heights = heightsOf(o.isShare, o.isLogY);
    this.values = o.lines.length
      ? valueAxis(o.lines[0].grid, left, left + w)
      : makeAxis(projectionOf('linear', null), [0, 1], left, left + w);
    this.extent = extentOf(this.heights, o.lines.map(oneStep));
    this.counts = o.isLogY
      ? makeAxis(projectionOf('log', null), [this.extent.floor, this.extent.peak], top + h, top)
      : makeAxis(projectionOf('linear', null), [0, this.extent.peak], top + h, top);
  }

  private topOf(line: Outline, bin: number): number {
    const u = unitHeight(this.heights.of(line.grid, line.index, bin), this.o.isLogY, this.extent);
    return this.box.top + this.box.height * (1 - u);
  }

  private outline(line: Outline): number[] {
    const bottom = this.box.top + this.box.height;
    const points = [toPixel(this.values, line.grid.edges[0]), bottom];
    for (let b = 0; b < line.grid.bins; b++) {
      const y = this.topOf(line, b);
      points.push(toPixel(this.values, line.grid.edges[b]), y, toPixel(this.values, line.grid.edges[b + 1]), y);
    }
    points.push(toPixel(this.values, line.grid.edges[line.grid.bins]), bottom);
    return points;
  }

  paint(s: Surface): void {
    const { look, lines, isShare } = this.o;
    bottomTicks(s, this.values, this.box, look, 'number', false);
    leftTicks(s, this.counts, this.box, look, isShare ? 'percent' : 'number');
    const { left, top, width, height } = this.box;
    s.within(left, top, width, height + 1, () => {
      for (const line of lines) {
        if (line.index < 0 || !isDrawn(line.grid, line.index)) continue;
        const points = this.outline(line);
        if (lines.length <= 6) s.path(points, { fill: line.colour, alpha: 0.16 });
        s.path(points, { stroke: line.colour, width: 1.25 });
      }
    });
  }

  over(s: Surface, hit: Hit | null): void {
    if (!hit) return;
    const { look } = this.o;
    const x = toPixel(this.values, hit.value);
    s.path([x, this.box.top, x, this.box.top + this.box.height], { stroke: look.theme.ink, dash: [2, 2] });
  }

  placeOf(_: number, value: number): { px: number; py: number } {
    return { px: toPixel(this.values, value), py: this.box.top + this.box.height / 2 };
  }

  at(px: number, py: number): Hit | null {
    const { left, top, width, height } = this.box;
    if (px < left || px > left + width || py < top - 4 || py > top + height + 4) return null;
    return { index: 0, value: toValue(this.values, px), px, py };
  }

  /** For each run, the share and the count of the bin at this value. */
  binsAt(value: number): { line: Outline; share: number; count: number }[] {
    return this.o.lines.flatMap((line) => {
      const bin = binAt(line.grid, value);
      if (bin < 0 || line.index < 0) return [];
      const share = line.grid.shares[line.index * line.grid.bins + bin];
      return [{ line, share, count: share * line.grid.total[line.index] }];
    });
  }
}

/** The grid with the shown step only: the other steps must not influence the height of the picture. */
const oneStep = ({ grid, index }: Outline): Grid => ({
  ...grid,
  steps: index < 0 ? 0 : 1,
  marks: grid.marks.subarray(index, index + 1),
  total: grid.total.subarray(index, index + 1),
  shares: grid.shares.subarray(index * grid.bins, (index + 1) * grid.bins),
});
