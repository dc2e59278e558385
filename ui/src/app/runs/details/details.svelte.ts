// What there is to know of one run: the summaries of all its metrics and the state of its files. Asked for while the
// drawer shows the run.
import { naturalCompare } from '../../../base/names/natural';
import { LiveQuery } from '../../../data/query/live.svelte';
import { runQuestion, type RunFacts } from '../../../data/query/details';
import type { Run } from '../../../data/types';
import { metricTags } from '../../tabs/dashboards';

export class RunDetails {
  readonly #query = new LiveQuery<RunFacts>();

  metrics = $derived([...(this.#query.answer?.metrics ?? [])].sort((a, b) => naturalCompare(a.tag, b.tag)));
  files = $derived(this.#query.answer?.files ?? []);
  /** the name of the run that these are of */
  of = $derived(this.#query.answer?.name ?? '');

  get trouble() {
    return this.#query.trouble;
  }
  tryNow(): void {
    this.#query.tryNow();
  }

  /** Inside an effect. */
  follow(run: () => Run | undefined): void {
    this.#query.follow(() => {
      const now = run();
      if (!now) return null;
      const tags = metricTags()
        .filter((tag) => tag.runs === 'all' || tag.runs.includes(now.id))
        .map((tag) => tag.tag);
      return runQuestion(now, tags);
    });
  }
}
