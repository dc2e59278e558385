// Last, least and greatest value of metrics for every run, as the server sums them up; asked for when a column, a filter
// or the order needs a tag, and again when there is news of it.
import { api } from '../../data/api';
import { hub } from '../../data/hub.svelte';
import { toNumber, type Cell } from '../../data/types';

const EVERY_MS = 1500;
const FIRST_MS = 150;
/** the server's limit of one answer */
const MOST_CELLS = 200000;
const BETTER_LOW = /loss|error|err\b|perplexity|ppl|mse|mae|rmse|nll|fid|wer|cer|latency|divergence|regret/i;
export const BETTER_HIGH = /acc|auc|f1|bleu|rouge|reward|return|score|\bmap\b|iou|precision|recall|top-?\d|psnr|ssim|r2|dice|throughput|per_s(ec)?\b/i;

/** Is less better, or more? null: nobody knows. */
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

export class Metrics {
  private cells = $state.raw<ReadonlyMap<string, ReadonlyMap<number, Cell>>>(new Map());
  private askedFor = new Set<string>();
  private askedAt = 0;
  private asking: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  cell(tag: string, run: number): Cell | undefined {
    return this.cells.get(tag)?.get(run);
  }
  has(tag: string): boolean {
    return this.cells.has(tag);
  }

  /** Inside an effect that reads which tags are wanted. */
  want(tags: string[]): void {
    const { tags: fresh } = hub.changed;
    if (!hub.ready || tags.length === 0) return;
    const isNew = tags.some((tag) => !this.askedFor.has(tag));
    if (!isNew && fresh && !tags.some((tag) => fresh.has(tag))) return;
    clearTimeout(this.timer);
    // the first time after the charts have asked: they are what people wait for
    const wait = isNew ? (this.askedAt ? 0 : FIRST_MS) : this.askedAt + EVERY_MS - Date.now();
    this.timer = setTimeout(() => void this.load(tags), Math.max(0, wait));
  }

  private async load(tags: string[]): Promise<void> {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    this.askedAt = Date.now();
    this.askedFor = new Set(tags);
    const cells = new Map<string, ReadonlyMap<number, Cell>>();
    const atOnce = Math.max(1, Math.floor(MOST_CELLS / Math.max(1, hub.runs.length)));
    for (let from = 0; from < tags.length; from += atOnce) {
      const reply = await api.summaries(tags.slice(from, from + atOnce), undefined, asking.signal);
      if (asking.signal.aborted) return;
      if (!reply.ok) {
        this.askedFor.clear();
        return;
      }
      reply.value.tags.forEach((tag, i) => {
        const byRun = new Map<number, Cell>();
        reply.value.runs.forEach((run, k) => {
          const cell = reply.value.cells[i][k];
          if (cell && run !== null) byRun.set(run, cell);
        });
        cells.set(tag, byRun);
      });
    }
    this.cells = cells;
  }
}
