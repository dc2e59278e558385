// The exact buckets of the step under the pointer, requested when the pointer rests.
import { LiveQuery } from '../../public';
import { bucketsQuestion, type Buckets } from './question';

const SETTLE_MS = 60;

export class BucketsData {
  private readonly query = new LiveQuery<Buckets>();

  constructor(private readonly of: () => { run: number; tag: string; step: number } | null) {}

  private readonly run = $derived.by(() => this.of()?.run);
  private readonly tag = $derived.by(() => this.of()?.tag);
  /** The step whose buckets are wanted. */
  readonly step = $derived.by(() => this.of()?.step);

  /** The buckets. Those of the previous step are kept until the new ones have arrived. */
  get answer(): Buckets | null {
    return this.step === undefined ? null : (this.query.answer ?? null);
  }

  /** To be called in an effect. */
  follow(): void {
    this.query.follow(
      () => {
        const { run, tag, step } = this;
        return run === undefined || tag === undefined || step === undefined
          ? null
          : bucketsQuestion({ run, tag }, step);
      },
      () => SETTLE_MS,
    );
  }
}
