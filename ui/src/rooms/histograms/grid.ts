// Histograms on a grid of bins, as the server sends them (SBH1), and functions that read one step of it.
import {
  decodeEntries,
  GRID_AT as AT,
  GRID_BYTES,
  GRID_MAGIC,
  partitionPoint,
  STEP,
  type Grid,
  type Result,
} from '../../public';

export type { Grid };
/** Percentiles of a step: 0, 6.68, 15.87, 30.85, 50, 69.15, 84.13, 93.32 and 100 percent. */
export const PERCENTS = [0, 6.68, 15.87, 30.85, 50, 69.15, 84.13, 93.32, 100] as const;
export const MEDIAN = 4;

export function decodeGrids(body: ArrayBuffer): Result<Grid[]> {
  const none = new Float64Array(0);
  return decodeEntries(body, GRID_MAGIC, GRID_BYTES, (r, at): Grid => {
    const n = r.u32(at + AT.steps);
    const bins = r.u32(at + AT.bins);
    const number = (field: number) => r.view.getFloat64(at + field, true);
    const doubles = (field: number, count: number) => r.doubles(at + field, count) ?? none;
    const floats = (field: number, count: number) => r.floats(at + field, count) ?? new Float32Array(0);
    return {
      run: r.u32(at + AT.run),
      flags: r.u32(at + AT.flags),
      epoch: r.u64(at + AT.epoch),
      n: r.u64(at + AT.n),
      inRange: r.u64(at + AT.inRange),
      steps: n,
      bins,
      firstWall: number(AT.firstWall),
      near: number(AT.near),
      least: number(AT.least),
      greatest: number(AT.greatest),
      step: doubles(AT.step, n),
      wall: doubles(AT.wall, n),
      marks: r.bytes(at + AT.marks, n) ?? new Uint8Array(0),
      total: doubles(AT.total, n),
      mean: doubles(AT.mean, n),
      deviation: doubles(AT.deviation, n),
      percentiles: doubles(AT.percentiles, n * PERCENTS.length),
      edges: doubles(AT.edges, bins + 1),
      shares: floats(AT.shares, n * bins),
      below: floats(AT.below, n),
      above: floats(AT.above, n),
      ends: doubles(AT.ends, n * 2),
    };
  });
}

/** The x values of all steps. */
export function xsOf(grid: Grid, x: string): Float64Array {
  if (x === 'wall') return grid.wall;
  if (x === 'relative') return grid.wall.map((wall) => wall - grid.firstWall);
  return grid.step;
}

/**
 * The index of the drawn step that is nearest to this step; -1 if there is none. Of two equally near ones it is the
 * later.
 */
export function nearestStep(grid: Grid, step: number): number {
  let best = -1;
  let least = Infinity;
  for (let i = 0; i < grid.steps; i++) {
    const away = Math.abs(grid.step[i] - step);
    if (away <= least) [best, least] = [i, away];
  }
  return best;
}

export const percentileOf = (grid: Grid, i: number, k: number): number => grid.percentiles[i * PERCENTS.length + k];

/** Does the step have anything that can be drawn? */
export const isDrawn = (grid: Grid, i: number): boolean => (grid.marks[i] & (STEP.EMPTY | STEP.UNREADABLE)) === 0;

export type Trouble = 'nan' | 'odd' | 'some' | 'empty' | 'unreadable' | null;
/**
 * Why a step is not drawn, or only in part: 'nan': it has nothing but NaN; 'odd': nothing but infinite edges or negative
 * counts; 'some': some of these; 'empty': no counts; 'unreadable': it cannot be decoded. null: nothing is wrong.
 */
export function troubleOf(grid: Grid, i: number): Trouble {
  const marks = grid.marks[i];
  if (marks & STEP.UNREADABLE) return 'unreadable';
  if (marks & STEP.EMPTY) return marks & STEP.NAN ? 'nan' : marks & STEP.BROKEN ? 'odd' : 'empty';
  return marks & STEP.BROKEN ? 'some' : null;
}

const isLost = (trouble: Trouble) => trouble === 'nan' || trouble === 'odd';
/** The index of the first step from which on all steps are nothing but NaN or invalid; -1 if the last step is valid. */
export function nanFrom(grid: Grid): number {
  let from = grid.steps;
  while (from > 0 && isLost(troubleOf(grid, from - 1))) from--;
  return from < grid.steps ? from : -1;
}
/** The reason why the steps from this one on are not drawn: NaN, or invalid edges and counts. */
export const lostTo = (grid: Grid, from: number): 'nan' | 'odd' =>
  grid.marks.subarray(from).some((marks) => (marks & STEP.NAN) !== 0) ? 'nan' : 'odd';

/** The number of steps that have no valid buckets, or not only valid ones; without those at the end that are lost. */
export function oddSteps(grid: Grid): number {
  const from = nanFrom(grid);
  const before = [...grid.marks.keys()].slice(0, from < 0 ? grid.steps : from);
  return before.filter((i) => ['some', 'nan', 'odd'].includes(troubleOf(grid, i) ?? '')).length;
}
export const hasNan = (grid: Grid): boolean => grid.marks.some((marks) => (marks & STEP.NAN) !== 0);

/** The index of the bin that contains this value; -1 if the value is outside of all bins. */
export function binAt(grid: Grid, value: number): number {
  if (!(value >= grid.edges[0] && value <= grid.edges[grid.bins])) return -1;
  return partitionPoint(1, grid.bins, (i) => grid.edges[i] <= value) - 1;
}

/**
 * The number of steps that have more than the share `least` of their values outside of the bins, and the greatest such
 * share.
 */
export function beyond(grid: Grid, least = 0.02): { steps: number; most: number } {
  let steps = 0;
  let most = 0;
  for (let i = 0; i < grid.steps; i++) {
    const share = (grid.below[i] ?? 0) + (grid.above[i] ?? 0);
    if (share > least) steps++;
    most = Math.max(most, share);
  }
  return { steps, most };
}
