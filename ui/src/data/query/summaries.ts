// Questions for numbers: the summaries of tags for all runs, and exact numbers of lines at a place.
import { ok } from '../../base/result';
import type { Cell, Measure, MeasureAsk, Reply, Summaries } from '../types';
import type { Outdated } from './news';
import type { Ask, Question } from './question';
import { dependsOn, keyOf, seriesKey } from './scalars';

/** The server's limit for one reply. */
const MOST_CELLS = 200_000;
/** How often news of the cells is asked for. */
export const EVERY_MS = 1500;
const MEASURE_EVERY_MS = 1000;
/** Approximate bytes of a parsed cell in memory. */
export const CELL_BYTES = 160;

/** By tag, then by run id. */
export type Cells = ReadonlyMap<string, ReadonlyMap<number, Cell>>;

/** Summaries of these tags for every run; `runCount` is how many there are. News asks for the runs that grew only. */
export function summariesQuestion(tags: readonly string[], runCount: () => number): Question<Cells> {
  const isWhole = (held: Cells | undefined, outdated: Outdated): boolean =>
    !held || outdated === 'all' || tags.some((tag) => !held.has(tag));
  return {
    key: `summaries ${JSON.stringify(tags)}`,
    family: 'summaries',
    depends: { plugin: 'scalars', tags },
    every: EVERY_MS,
    asks(held, outdated) {
      const runs = isWhole(held, outdated) ? undefined : [...(outdated as ReadonlySet<number>)];
      if (runs?.length === 0) return [];
      const atOnce = Math.max(1, Math.floor(MOST_CELLS / Math.max(1, runs?.length ?? runCount())));
      const asks: Ask[] = [];
      for (let from = 0; from < tags.length; from += atOnce)
        asks.push({ path: 'summaries', body: { tags: tags.slice(from, from + atOnce), runs }, as: 'json' });
      return asks;
    },
    take(replies, held, outdated) {
      const base = isWhole(held, outdated) ? undefined : held;
      const cells = new Map(tags.map((tag) => [tag, new Map(base?.get(tag))]));
      for (const reply of replies as Summaries[])
        reply.tags.forEach((tag, i) =>
          reply.runs.forEach((run, k) => {
            const cell = reply.cells[i][k];
            if (run === null) return;
            if (cell) cells.get(tag)?.set(run, cell);
            else cells.get(tag)?.delete(run);
          }),
        );
      return ok(cells);
    },
    sizeOf: (cells) => [...cells.values()].reduce((sum, column) => sum + column.size * CELL_BYTES, 0),
  };
}

/** By seriesKey; what has no such series, or no point there, is absent. */
export type Measured = ReadonlyMap<string, Measure>;

/** Exact numbers of lines at a place or over a range. */
export function measureQuestion(ask: MeasureAsk): Question<Measured> {
  const { series, ...where } = ask;
  const family = `measure ${JSON.stringify(where)}`;
  return {
    key: keyOf(family, series),
    family,
    depends: dependsOn(ask.series, ask.x, ask.compare?.run),
    every: MEASURE_EVERY_MS,
    asks: () => [{ path: 'measure', body: ask, as: 'json' }],
    take([reply]) {
      const measured = new Map<string, Measure>();
      (reply as Reply<'POST measure'>).series.forEach((one, i) => one && measured.set(seriesKey(ask.series[i]), one));
      return ok(measured);
    },
    sizeOf: (measured) => measured.size * 8 * CELL_BYTES,
  };
}
