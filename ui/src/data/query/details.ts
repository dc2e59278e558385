// Questions about details, which the first page does not ask: all that is known of one run, and the files that were read.
import { ok } from '../../base/result';
import type { Cell, FileState, Reply, Summaries } from '../types';
import type { Question } from './question';
import { CELL_BYTES, EVERY_MS } from './summaries';

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
