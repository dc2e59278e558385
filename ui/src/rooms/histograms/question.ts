// Requests for histograms: many steps of some series on a common grid, and the exact buckets of one step.
import {
  ok,
  seriesKey,
  toNumber,
  type Grid,
  type GridsAsk,
  type Histograms,
  type Question,
  type SeriesRef,
} from '../../public';
import { decodeGrids } from './grid';

export interface Grids {
  ask: Omit<GridsAsk, 'series'>;
  /** by seriesKey; series that the server does not have are missing */
  series: ReadonlyMap<string, Grid>;
}

const NOT_THERE = 1;
const UNCHANGED = 2;
const LIVE_EVERY_MS = 300;
const PLUGIN = 'histograms';

const bytesOf = (grids: Iterable<Grid>): number =>
  [...grids].reduce((sum, g) => sum + 4 * g.shares.length + 8 * (g.percentiles.length + 8 * g.steps) + 500, 0);

export function gridsQuestion(ask: Omit<GridsAsk, 'series'>, series: readonly SeriesRef[]): Question<Grids> {
  return {
    key: `grids ${JSON.stringify(ask)}\n\n${series.map(seriesKey).join('\n\n')}`,
    depends: {
      plugin: PLUGIN,
      tags: [...new Set(series.map(({ tag }) => tag))],
      runs: new Set(series.map((s) => s.run)),
    },
    every: LIVE_EVERY_MS,
    asks(held) {
      // All series are requested at once, because they share one grid. For each, the request says what this page already
      // has.
      const wanted = series.map((s) => {
        const has = held?.series.get(seriesKey(s));
        return has ? { run: s.run, tag: s.tag, epoch: has.epoch, n: has.n } : { run: s.run, tag: s.tag };
      });
      return wanted.length ? [{ path: 'histograms/grids', body: { ...ask, series: wanted }, as: 'bytes' }] : [];
    },
    take(replies, held) {
      const now = new Map<string, Grid>();
      if (replies.length) {
        const grids = decodeGrids(replies[0] as ArrayBuffer);
        if (!grids.ok) return grids;
        series.forEach((s, i) => {
          const sent = grids.value.at(i);
          const grid = sent && sent.flags & UNCHANGED ? held?.series.get(seriesKey(s)) : sent;
          if (grid && !(grid.flags & NOT_THERE)) now.set(seriesKey(s), grid);
        });
      }
      return ok({ ask, series: now });
    },
    sizeOf: (answer) => bytesOf(answer.series.values()),
  };
}

/** left edge, right edge, count */
export type Bucket = readonly [number, number, number];
export interface Buckets {
  step: number;
  buckets: readonly Bucket[];
  /** why there are no buckets */
  error: string;
}

/** The exact buckets of one step, as they were logged. */
export function bucketsQuestion(series: SeriesRef, step: number): Question<Buckets> {
  return {
    key: `buckets ${step} ${seriesKey(series)}`,
    depends: { plugin: PLUGIN, tags: [series.tag], runs: new Set([series.run]) },
    every: LIVE_EVERY_MS,
    asks: () => [{ path: 'histograms', body: { series: [series], range: [step, step], maxSteps: 1 }, as: 'json' }],
    take([reply]) {
      const point = (reply as Histograms).series.at(0)?.points?.at(0);
      const buckets = (point?.rows ?? []).map((row) => row.map(toNumber) as unknown as Bucket);
      return ok({ step, buckets, error: point ? (point.error ?? '') : 'not_found' });
    },
    sizeOf: ({ buckets }) => 200 + 60 * buckets.length,
  };
}
