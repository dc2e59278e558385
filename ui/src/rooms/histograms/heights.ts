// The height of a bin: the share of the step's values or their count, on a linear or a logarithmic axis.
import type { Grid } from '../../public';
import { isDrawn } from './grid';

export interface Heights {
  readonly isShare: boolean;
  readonly isLog: boolean;
  of(grid: Grid, i: number, bin: number): number;
}

export const heightsOf = (isShare: boolean, isLog: boolean): Heights => ({
  isShare,
  isLog,
  of: (grid, i, bin) => grid.shares[i * grid.bins + bin] * (isShare ? 1 : grid.total[i]),
});

export function peakOf(heights: Heights, grid: Grid, i: number): number {
  let most = 0;
  for (let b = 0; b < grid.bins; b++) most = Math.max(most, heights.of(grid, i, b));
  return most;
}

/**
 * The height of the picture is at most this many times the median peak. So one step whose values are all equal does not
 * flatten all others.
 */
const TALLEST = 4;

/** The greatest height, which fills the picture, and the least one above zero, which a logarithmic axis needs. */
export function extentOf(heights: Heights, grids: readonly Grid[]): { peak: number; floor: number } {
  const peaks: number[] = [];
  let floor = Infinity;
  for (const grid of grids)
    for (let i = 0; i < grid.steps; i++) {
      if (!isDrawn(grid, i)) continue;
      const peak = peakOf(heights, grid, i);
      if (peak > 0) peaks.push(peak);
      if (heights.isLog)
        for (let b = 0; b < grid.bins; b++) {
          const h = heights.of(grid, i, b);
          if (h > 0) floor = Math.min(floor, h);
        }
    }
  if (peaks.length === 0) return { peak: 1, floor: 0.1 };
  peaks.sort((a, b) => a - b);
  const peak = Math.min(peaks[peaks.length - 1], TALLEST * peaks[peaks.length >> 1]);
  return { peak, floor: Math.max(Math.min(floor, peak / 10), peak * 1e-6) };
}

/** A height scaled to 0..1. Heights above the peak give up to 1.25, so that they are seen to be cut off. */
export function unitHeight(h: number, isLog: boolean, { peak, floor }: { peak: number; floor: number }): number {
  if (!(h > 0)) return 0;
  const u = isLog ? Math.max(0, Math.log(h / floor) / Math.log(peak / floor)) : h / peak;
  return Math.min(u, 1.25);
}
