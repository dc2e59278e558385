// Last, least and greatest value of metrics for every run, as the server sums them up; asked for when a column, a filter
// or the order needs a tag, and again when there is news of it.
import { api } from '../../data/api';
import { hub } from '../../data/hub.svelte';
import { toNumber, type Cell } from '../../data/types';

const EVERY_MS = 1500;
const FIRST_MS = 150;
/** the server's limit of one answer */
const MOST_CELLS = 200000;
/** news of more runs than these is asked for as a whole */
const MOST_RUNS = 1000;
const BETTER_LOW = /loss|error|err\b|perplexity|ppl|mse|mae|rmse|nll|fid|wer|cer|latency|divergence|regret/i;
export const BETTER_HIGH =
  /acc|auc|f1|bleu|rouge|reward|return|score|\bmap\b|iou|precision|recall|top-?\d|psnr|ssim|r2|dice|throughput|per_s(ec)?\b/i;

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

/** Of which runs there is news; null: of any. */
type News = Set<number> | null;
const both = (a: News, b: News): News => (a && b && a.size + b.size <= MOST_RUNS ? new Set([...a, ...b]) : null);

export class Metrics {
  private cells = $state.raw<ReadonlyMap<string, ReadonlyMap<number, Cell>>>(new Map());
  private askedFor = new Set<string>();
  private askedAt = 0;
  private asking: { control: AbortController; news: News } | null = null;
  private news: News = null;
  private seen = -1;
  private timer: ReturnType<typeof setTimeout> | undefined;

  cell(tag: string, run: number): Cell | undefined {
    return this.cells.get(tag)?.get(run);
  }
  has(tag: string): boolean {
    return this.cells.has(tag);
  }

  /** Inside an effect that reads which tags are wanted. */
  want(tags: string[]): void {
    const { version, tags: fresh, runs } = hub.changed;
    const isNews = version !== this.seen;
    this.seen = version;
    if (isNews) this.news = both(this.news, runs);
    if (!hub.ready || tags.length === 0) return;
    const isNew = tags.some((tag) => !this.askedFor.has(tag));
    if (isNew) this.news = null;
    else if (!isNews || (fresh && !tags.some((tag) => fresh.has(tag)))) return;
    clearTimeout(this.timer);
    // the first time after the charts have asked: they are what people wait for
    const wait = isNew ? (this.askedAt ? 0 : FIRST_MS) : this.askedAt + EVERY_MS - Date.now();
    this.timer = setTimeout(() => void this.load(tags), Math.max(0, wait));
  }

  private async load(tags: string[]): Promise<void> {
    // an answer that never came is asked for once more
    if (this.asking) this.news = both(this.news, this.asking.news);
    this.asking?.control.abort();
    const asking = { control: new AbortController(), news: this.news };
    this.asking = asking;
    this.news = new Set();
    this.askedAt = Date.now();
    this.askedFor = new Set(tags);
    const some = asking.news ? [...asking.news].filter((id) => hub.run(id)) : undefined;
    const cells = new Map<string, Map<number, Cell>>(
      tags.map((tag) => [tag, new Map(some ? this.cells.get(tag) : [])]),
    );
    const atOnce = Math.max(1, Math.floor(MOST_CELLS / Math.max(1, some?.length ?? hub.runs.length)));
    for (let from = 0; from < tags.length; from += atOnce) {
      const reply = await api.summaries(tags.slice(from, from + atOnce), some, asking.control.signal);
      if (this.asking !== asking) return;
      if (!reply.ok) {
        this.asking = null;
        this.askedFor.clear();
        return;
      }
      reply.value.tags.forEach((tag, i) =>
        reply.value.runs.forEach((run, k) => {
          if (run === null) return;
          const cell = reply.value.cells[i][k];
          if (cell) cells.get(tag)?.set(run, cell);
          else cells.get(tag)?.delete(run);
        }),
      );
    }
    this.asking = null;
    this.cells = cells;
  }
}
