// Opens a capture: asks the server once to read its files into memory; the list of captures has the progress. Asks again
// when the files have changed, or when the server has dropped the capture from memory.
import { api, LiveQuery, type Question, type ProfileCapture, type ProfileOpened } from '../../public';
import { openQuestion, type Capture } from './question';

/** The code of the server's error for a capture that is not in its memory any more. */
const NOT_OPEN = 'not_open';
const AGAIN_MS = 300;

export class Opening {
  private readonly reply = new LiveQuery<ProfileOpened>();
  private round = $state(0);
  private stopped = $state(''); // id of the capture whose reading the viewer cancelled
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `listed`: the capture as the list has it; undefined: none is wanted. */
  constructor(private readonly listed: () => ProfileCapture | undefined) {}

  /** The capture as the list has it. It is open also if only the answer to our request says so yet. */
  readonly now = $derived.by((): ProfileCapture | undefined => {
    const wanted = this.listed();
    const told = this.reply.answer?.capture;
    return told?.state === 'open' && told.id === wanted?.id && told.epoch === wanted.epoch ? told : wanted;
  });
  private readonly id = $derived.by(() => this.listed()?.id ?? '');
  private readonly epoch = $derived(this.now?.epoch ?? '');
  private readonly listedEpoch = $derived.by(() => this.listed()?.epoch ?? '');
  private readonly state = $derived(this.now?.state ?? 'closed');
  readonly isStopped = $derived(this.id !== '' && this.stopped === this.id && this.state !== 'open');
  /** Is the page waiting for this capture? */
  readonly isReading = $derived(this.id !== '' && !this.isStopped && this.state !== 'open' && this.state !== 'failed');
  /** Null until it has been read. */
  readonly capture = $derived.by((): Capture | null =>
    this.id && this.state === 'open' ? { id: this.id, epoch: `${this.epoch} ${this.round}` } : null,
  );
  get trouble() {
    return this.reply.trouble;
  }
  tryNow(): void {
    this.reply.tryNow();
  }
  /** The job that reads it; the list may hear of it later than the answer to our request. */
  private readonly job = $derived.by(() => this.listed()?.job || this.told);
  private told = $state(0);
  private cancelled = 0;
  stop(): void {
    this.told = this.reply.answer?.capture.job ?? 0;
    this.stopped = this.id;
  }
  resume(): void {
    this.stopped = '';
    this.round += 1;
  }
  /** Asks the server to read it again, after a moment: until then the list may still say that it is open. */
  private again(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.round += 1;
    }, AGAIN_MS);
  }

  /** To be called in an effect. */
  follow(): void {
    this.reply.follow(() => (this.id && !this.isStopped ? openQuestion(this.id, this.listedEpoch, this.round) : null));
    $effect(() => () => clearTimeout(this.timer));
    $effect(() => {
      if (!this.isStopped || !this.job || this.job === this.cancelled) return;
      this.cancelled = this.job;
      void api.cancelJob(this.job);
    });
  }

  /** To be called in an effect: follows a question about the capture. If the server has dropped the capture, it is read again. */
  ask<T>(query: LiveQuery<T>, question: (of: Capture) => Question<T> | null, settle?: () => number): void {
    query.follow(() => (this.capture ? question(this.capture) : null), settle);
    $effect(() => {
      if (query.trouble?.code === NOT_OPEN) this.again();
    });
  }
}
