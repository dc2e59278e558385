// Questions for tables: the summaries of tags for all runs, all that is known of one run, and the files that were read.
import { ok } from '../../base/result';
import type { Cell, FileState, Measure, MeasureAsk, Reply, Summaries } from '../types';
import type { Outdated } from './news';
import type { Ask, Question } from './question';
import { dependsOn, keyOf, seriesKey } from './scalars';

/** The server's limit for one reply. */
const MOST_CELLS = 200_000;
const EVERY_MS = 1500;
const MEASURE_EVERY_MS = 1000;
/** A parsed cell in memory, roughly. */
const CELL_BYTES = 160;

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

export interface RunFacts {
  name: string;
  metrics: { tag: string; cell: Cell }[];
  files: FileState[];
}

/** All that is known of one run: the summaries of its metrics and the state of its files. */
export function runQuestion(run: { id: number; name: string }, tags: readonly string[]): Question<RunFacts> {
  return {
    key: `run ${run.id} ${JSON.stringify(tags)}`,
    depends: { runs: new Set([run.id]) },
    every: EVERY_MS,
    asks: () => [
      { path: 'summaries', body: { tags, runs: [run.id] }, as: 'json' },
      { path: `status?files=1&run=${encodeURIComponent(run.name)}`, as: 'json' },
    ],
    take([summaries, status]) {
      const { tags: found, cells } = summaries as Summaries;
      const metrics = found.flatMap((tag, i) => {
        const cell = cells[i][0];
        return cell ? [{ tag, cell }] : [];
      });
      return ok({ name: run.name, metrics, files: (status as Reply<'GET status'>).files ?? [] });
    },
    sizeOf: ({ metrics, files }) => (metrics.length + files.length) * CELL_BYTES,
  };
}

/** Every file that was read, or could not be. */
export function filesQuestion(): Question<FileState[]> {
  return {
    key: 'files',
    depends: {},
    every: EVERY_MS,
    asks: () => [{ path: 'status?files=1', as: 'json' }],
    take: ([status]) => ok((status as Reply<'GET status'>).files ?? []),
    sizeOf: (files) => files.length * CELL_BYTES,
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
