// A capture on its way from a file to the server's memory: asks the server to read it, once; the list of captures says how
// far that is. Asks again when the files changed or the server has let go of it.
import { LiveQuery, type Question, type ProfileCapture, type ProfileOpened } from '../../public';
import { openQuestion, type Capture } from './question';

/** What the server says of a capture that it does not hold any more. */
const NOT_OPEN = 'not_open';
const AGAIN_MS = 300;

export class Opening {
  private readonly reply = new LiveQuery<ProfileOpened>();
  private round = $state(0);
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `listed`: the capture as the list has it; undefined: none is wanted. */
  constructor(private readonly listed: () => ProfileCapture | undefined) {}

  /** As it is listed; open also where only the answer to our question says so yet. */
  readonly now = $derived.by((): ProfileCapture | undefined => {
    const wanted = this.listed();
    const told = this.reply.answer?.capture;
    return told?.state === 'open' && told.id === wanted?.id && told.epoch === wanted.epoch ? told : wanted;
  });
  private readonly id = $derived.by(() => this.listed()?.id ?? '');
  private readonly epoch = $derived(this.now?.epoch ?? '');
  private readonly listedEpoch = $derived.by(() => this.listed()?.epoch ?? '');
  private readonly state = $derived(this.now?.state ?? 'closed');
  /** Is somebody waiting for it? */
  readonly isReading = $derived(this.id !== '' && this.state !== 'open' && this.state !== 'failed');
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
  /** Reads it again, after a moment: until then the list may say that it is open. */
  private again(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.round += 1;
    }, AGAIN_MS);
  }

  /** Inside an effect. */
  follow(): void {
    this.reply.follow(() => (this.id ? openQuestion(this.id, this.listedEpoch, this.round) : null));
    $effect(() => () => clearTimeout(this.timer));
  }

  /** Inside an effect: follows a question about the capture. Where the server has let go of it, it is read again. */
  ask<T>(query: LiveQuery<T>, question: (of: Capture) => Question<T> | null, settle?: () => number): void {
    query.follow(() => (this.capture ? question(this.capture) : null), settle);
    $effect(() => {
      if (query.trouble?.code === NOT_OPEN) this.again();
    });
  }
}
