// Statistics of a drawn line between two places on x: points, extremes and mean. Of the points that are drawn,
// which may be fewer than there are: what is shown at once, until the server has counted all of them.
import { nearestIndex, type Line } from './lines';

export interface StatPoint {
  step: number;
  wall: number;
  value: number; // as drawn: smoothed when that is on
  raw: number;
}
export interface Extremes {
  min: StatPoint | null; // null: nothing finite there
  max: StatPoint | null;
  mean: number;
}
export interface Stats {
  start: StatPoint;
  end: StatPoint;
  line: Extremes; // of what is drawn
  raw: Extremes;
}

function pointAt(line: Line, i: number): StatPoint {
  return {
    step: line.step ? line.step[i] : NaN,
    wall: line.wall ? line.wall[i] : NaN,
    value: line.y[i],
    raw: (line.raw ?? line.y)[i],
  };
}

function extremes(line: Line, values: Float64Array, first: number, last: number): Extremes {
  let min = -1;
  let max = -1;
  let sum = 0;
  let n = 0;
  for (let i = first; i <= last; i++) {
    const v = values[i];
    if (v - v !== 0) continue;
    if (min < 0 || v < values[min]) min = i;
    if (max < 0 || v > values[max]) max = i;
    sum += v;
    n++;
  }
  return {
    min: min < 0 ? null : pointAt(line, min),
    max: max < 0 ? null : pointAt(line, max),
    mean: n ? sum / n : NaN,
  };
}

const NONE: Extremes = { min: null, max: null, mean: NaN };

/** null: no points. `to` null: at one place, which has no extremes. */
export function drawnStats(line: Line, from: number, to: number | null): Stats | null {
  const first = nearestIndex(line.x, from);
  if (first < 0) return null;
  if (to === null) {
    const at = pointAt(line, first);
    return { start: at, end: at, line: NONE, raw: NONE };
  }
  const last = Math.max(first, nearestIndex(line.x, to));
  const drawn = extremes(line, line.y, first, last);
  return {
    start: pointAt(line, first),
    end: pointAt(line, last),
    line: drawn,
    raw: line.raw ? extremes(line, line.raw, first, last) : drawn,
  };
}
