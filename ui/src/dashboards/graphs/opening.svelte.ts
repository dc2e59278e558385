// A large graph on its way from the log to the server's memory: a background job reads it and says how far it is; small
// ones are read with the first question about them. Whoever leaves before it is read cancels the job.
import { api, ok, type GraphSource, type Result, type Trouble } from '../../public';

const LARGE = 4e6; // bytes, about a tenth of a second
const POLL_MS = 150;

export interface Wanted {
  /** of which the key is another one when anything about it is */
  key: string;
  source: GraphSource;
  bytes: number;
}

export class Opening {
  /** the source that the server has read */
  private read = $state('');
  /** how much of the one that is wanted, 0 to 1 */
  share = $state(0);
  trouble = $state.raw<Trouble | null>(null);
  private round = $state(0);

  constructor(private readonly wanted: () => Wanted | null) {}

  readonly isOpen = $derived.by(() => {
    const wanted = this.wanted();
    return wanted !== null && (wanted.bytes <= LARGE || wanted.key === this.read);
  });
  tryNow(): void {
    if (this.trouble) this.round += 1;
  }

  /** Inside an effect. */
  follow(): void {
    $effect(() => {
      void this.round;
      return this.open(this.wanted());
    });
  }
  /** Reads it; what it gives back ends that. */
  open(wanted: Wanted | null): () => void {
    const over = new AbortController();
    if (wanted && wanted.bytes > LARGE) void this.readAll(wanted, over.signal);
    return () => over.abort();
  }

  private async readAll({ key, source }: Wanted, over: AbortSignal): Promise<void> {
    this.share = 0;
    this.trouble = null;
    let reply = await api.submitJob({ kind: 'graph', args: { source } });
    const id = reply.ok ? reply.value.job.id : 0;
    while (reply.ok && !over.aborted) {
      const { state, done, total, error } = reply.value.job;
      this.share = total ? done / total : 0;
      if (state === 'done') {
        this.read = key;
        return;
      }
      if (state === 'failed' || state === 'cancelled') {
        this.trouble = { code: state, message: error ?? state, retryAt: null };
        return;
      }
      await rest(POLL_MS, over);
      if (!over.aborted) reply = await api.job(id);
    }
    if (over.aborted) await cancel(id);
    else if (!reply.ok) this.trouble = { ...reply.error, retryAt: null };
  }
}

const rest = (ms: number, over: AbortSignal) =>
  new Promise<void>((wake) => {
    const timer = setTimeout(wake, ms);
    over.addEventListener('abort', () => {
      clearTimeout(timer);
      wake();
    });
  });
const cancel = (id: number): Promise<Result<unknown>> => (id ? api.cancelJob(id) : Promise.resolve(ok(null)));
