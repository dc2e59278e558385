// Questions for points of scalar series and for bands. Points come as columns; of what is held only series that are
// out of date, or missing, are asked for, and of these only those that changed are sent.
import { ok, type Result } from '../../base/result';
import { decodeBands, decodeColumns, type Band, type Series } from '../columns';
import { NOT_FOUND, UNCHANGED, type BandsAsk, type ScalarsAsk, type XAxis } from '../types';
import { bytesOf, compact } from './memory';
import type { Outdated } from './news';
import type { Question } from './question';

export interface SeriesRef {
  run: number;
  tag: string;
}
export const seriesKey = ({ run, tag }: SeriesRef): string => `${run}\n${tag}`;

export interface Points {
  /** the part of x that was asked for; undefined: all of it */
  range: [number, number] | undefined;
  /** by seriesKey */
  series: ReadonlyMap<string, Series>;
}

const tagsOf = (series: readonly SeriesRef[], x: XAxis): string[] => {
  const tags = new Set(series.map(({ tag }) => tag));
  if (typeof x === 'object') tags.add(x.tag);
  return [...tags];
};
function runsOf(series: readonly SeriesRef[], baseline: number | undefined): Set<number> {
  const runs = new Set(series.map(({ run }) => run));
  if (baseline !== undefined) runs.add(baseline);
  return runs;
}
/** The key of a question about these series. */
export const keyOf = (family: string, series: readonly SeriesRef[]): string =>
  `${family}\n\n${series.map(seriesKey).join('\n\n')}`;

/** A question about series: what it depends on is the same for points, bands and measures. */
export const dependsOn = (series: readonly SeriesRef[], x: XAxis, baseline: number | undefined) => ({
  plugin: 'scalars',
  tags: tagsOf(series, x),
  runs: runsOf(series, baseline),
});

export function scalarsQuestion(ask: Omit<ScalarsAsk, 'series'>, series: readonly SeriesRef[]): Question<Points> {
  const family = `scalars ${JSON.stringify(ask)}`;
  const baseline = ask.compare?.run;
  /** Those to ask for: what is missing and what is out of date; all of them when the baseline is. */
  const stale = (held: Points | undefined, outdated: Outdated) =>
    held && outdated !== 'all' && (baseline === undefined || !outdated.has(baseline))
      ? series.filter((s) => outdated.has(s.run) || !held.series.has(seriesKey(s)))
      : series;
  return {
    key: keyOf(family, series),
    family,
    depends: dependsOn(series, ask.x, baseline),
    asks(held, outdated) {
      const wanted = stale(held, outdated).map((s) => {
        const has = held?.series.get(seriesKey(s));
        return has ? { run: s.run, tag: s.tag, epoch: has.epoch, n: has.n } : { run: s.run, tag: s.tag };
      });
      return wanted.length ? [{ path: 'scalars', body: { ...ask, series: wanted }, as: 'bytes' }] : [];
    },
    take(replies, held, outdated): Result<Points> {
      const sent = new Map<string, Series>();
      if (replies.length) {
        const columns = decodeColumns(replies[0] as ArrayBuffer);
        if (!columns.ok) return columns;
        stale(held, outdated).forEach((s, i) => sent.set(seriesKey(s), columns.value.series[i]));
      }
      const now = new Map<string, Series>();
      for (const s of series) {
        const key = seriesKey(s);
        const entry = sent.get(key);
        const data = entry && !(entry.flags & UNCHANGED) ? entry : held?.series.get(key);
        if (data && !((entry ?? data).flags & NOT_FOUND)) now.set(key, data);
      }
      return ok({ range: ask.range, series: compact(now) });
    },
    sizeOf: (answer) => bytesOf(answer.series.values()),
  };
}

export interface Bands {
  range: [number, number] | undefined;
  keys: string[]; // of the groups; Band.group is an index
  bands: Band[];
}

export function bandsQuestion(ask: BandsAsk): Question<Bands> {
  const series = ask.groups.flatMap((group) => group.series);
  return {
    key: `bands ${JSON.stringify(ask)}`,
    depends: dependsOn(series, ask.x, ask.compare?.run),
    asks: () => [{ path: 'bands', body: ask, as: 'bytes' }],
    take(replies): Result<Bands> {
      const bands = decodeBands(replies[0] as ArrayBuffer);
      if (!bands.ok) return bands;
      return ok({ range: ask.range, keys: ask.groups.map(({ key }) => key), bands: bands.value });
    },
    sizeOf: ({ bands }) => bands.reduce((sum, band) => sum + band.points * 5 * 8, 0),
  };
}
