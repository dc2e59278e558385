// Last, least and greatest value of metrics for every run, as the server sums them up; asked for when a column, a filter
// or the order needs a tag, in the background: the charts are what people wait for.
import { untrack } from 'svelte';
import { BACKGROUND } from '../../../data/fetch.queue';
import { hub } from '../../../data/hub.svelte';
import { LiveQuery } from '../../../data/query/live.svelte';
import { summariesQuestion, type Cells } from '../../../data/query/summaries';
import { toNumber, type Cell } from '../../../data/types';

const BETTER_LOW = /loss|error|err\b|perplexity|ppl|mse|mae|rmse|nll|fid|wer|cer|latency|divergence|regret/i;
export const BETTER_HIGH =
  /acc|auc|f1|bleu|rouge|reward|return|score|\bmap\b|iou|precision|recall|top-?\d|psnr|ssim|r2|dice|throughput|per_s(ec)?\b/i;

/** Whether a lower or a higher value is better, guessed from the name; null: unknown. */
export function direction(tag: string): 'min' | 'max' | null {
  if (BETTER_LOW.test(tag)) return 'min';
  return BETTER_HIGH.test(tag) ? 'max' : null;
}

export type Summary = 'last' | 'min' | 'max' | 'best';

/** The number a column shows, and the step it is from. "best" is the step of the best value itself. */
export function summed(cell: Cell, what: string, tag: string): { value: number; step: number } {
  const side = what === 'best' ? (direction(tag) ?? 'min') : what;
  if (side === 'last') return { value: toNumber(cell.last), step: toNumber(cell.lastStep) };
  const step = toNumber(side === 'max' ? cell.maxStep : cell.minStep);
  return { value: what === 'best' ? step : toNumber(side === 'max' ? cell.max : cell.min), step };
}

/** The first request waits for those of the charts. */
const FIRST_MS = 150;

export class Metrics {
  readonly #query = new LiveQuery<Cells>(BACKGROUND);

  cell(tag: string, run: number): Cell | undefined {
    return this.#query.answer?.get(tag)?.get(run);
  }
  has(tag: string): boolean {
    return this.#query.answer?.has(tag) ?? false;
  }
  /** Why cells are missing or old; null: nothing is wrong. */
  get trouble() {
    return this.#query.trouble;
  }
  tryNow(): void {
    this.#query.tryNow();
  }

  /** Inside an effect that reads which tags are wanted. */
  want(tags: string[]): void {
    const question = hub.ready && tags.length > 0 ? summariesQuestion(tags, () => hub.runs.length) : null;
    this.#query.ask(question, untrack(() => this.#query.answer) ? 0 : FIRST_MS);
  }
}
