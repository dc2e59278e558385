// Which runs have data of a dashboard in files beside the event files. The server looks for these files only when it is asked, so the
// page asks while somebody looks: while the list of tabs or the tab itself is open.
import { ok } from '../../base/result';
import { DASHBOARDS } from '../../dashboards';
import { LiveQuery } from '../../data/query/live.svelte';
import { queries } from '../../data/query/queries.svelte';
import type { Question } from '../../data/query/question';
import type { Dashboard } from './dashboard';

const EVERY_MS = 5000;
const NAME_BYTES = 100;

class RunsInFiles {
  readonly query = new LiveQuery<readonly string[]>();
  lookers = 0;
  generation = $state(-1); // of the server process that was asked
}

/** `path` is one of TensorBoard's routes, which are not below api/v1/. */
const runsQuestion = (path: string): Question<readonly string[]> => ({
  key: `in files ${path}`,
  depends: {},
  every: EVERY_MS,
  asks: () => [{ path: `../../${path}`, as: 'json' }],
  take: ([names]) => ok(Array.isArray(names) ? (names as string[]) : []),
  sizeOf: (names) => names.length * NAME_BYTES,
});

class InFiles {
  readonly #found = new Map(DASHBOARDS.flatMap((d) => (d.inFiles ? [[d.id, new RunsInFiles()] as const] : [])));

  runsOf(d: Dashboard): readonly string[] {
    const found = this.#found.get(d.id);
    return found?.generation === queries.generation ? (found.query.answer ?? []) : [];
  }

  /** Asks, and asks again when the logs grew, until the function that it returns is called. */
  look(dashboards: readonly Dashboard[]): () => void {
    const looked = dashboards.flatMap((d) => this.#found.get(d.id) ?? []);
    for (const d of dashboards) if (d.inFiles) this.#found.get(d.id)?.query.ask(runsQuestion(d.inFiles.path));
    for (const found of looked) {
      found.lookers++;
      found.generation = queries.generation;
    }
    return () => {
      for (const found of looked) if (--found.lookers === 0) found.query.close();
    };
  }
}

export const inFiles = new InFiles();
