// The contents of a card's footer: the numbers of runs and points, the best run, and problems.
import { direction, NO_BASELINE, NO_X, runs, UNSMOOTHED, type Run } from '../../../public';
import type { Loaded } from './card.svelte';

export interface CardInfo {
  runs: number; // runs whose points are loaded; before any are, the runs that were requested
  lines: number; // lines whose points are loaded
  groups: number; // groups that are drawn as bands; 0 if runs are drawn as lines
  points: number;
  total: number;
  bad: { nan: number; plus: number; minus: number }; // number of values that are not finite
  without: number; // lines that cannot be compared with the baseline
  withoutX: number; // lines of runs that do not have the metric of the x axis
  unsmoothed: number; // lines of series that are too long for smoothing
  best: { name: string; value: number } | null;
}
interface Known {
  runs: number;
  groups: number;
  without: number;
  unsmoothed: number;
  isZoomed: boolean;
  tags: readonly string[];
  isCompared: boolean;
}

export function infoOf(series: readonly Loaded[], known: Known): CardInfo {
  const info: CardInfo = {
    runs: series.length ? new Set(series.map(({ run }) => run.id)).size : known.runs,
    lines: series.length,
    groups: known.groups,
    points: 0,
    total: 0,
    bad: { nan: 0, plus: 0, minus: 0 },
    without: known.without,
    withoutX: 0,
    unsmoothed: known.unsmoothed,
    best: null,
  };
  const wanted = known.isCompared || known.tags.length > 1 ? null : direction(known.tags[0]);
  let best: { run: Run; value: number } | null = null;
  for (const { run, data } of series) {
    info.points += data.points;
    info.total += known.isZoomed ? data.inRange : data.n;
    info.bad.nan += data.bad - data.plus - data.minus;
    info.bad.plus += data.plus;
    info.bad.minus += data.minus;
    if (data.flags & NO_BASELINE) info.without++;
    if (data.flags & NO_X) info.withoutX++;
    if (data.flags & UNSMOOTHED) info.unsmoothed++;
    if (!wanted || !data.value) continue;
    for (let i = 0; i < data.value.length; i++) {
      const v = data.value[i];
      if (Number.isFinite(v) && (best === null || (wanted === 'min' ? v < best.value : v > best.value)))
        best = { run, value: v };
    }
  }
  info.total = Math.max(info.total, info.points);
  if (best) info.best = { name: runs.nameOf(best.run), value: best.value };
  return info;
}
