// One card's text: the one at the step that is wanted, or the newest; kept up to date by LiveQuery. Of a very long text
// only the beginning is asked for, until somebody wants all of it.
import { AHEAD, cardOf, hub, IN_SIGHT, LiveQuery, toNumber, type Run } from '../../public';
import { steps } from '../../rooms/steps/steps.svelte';
import { textQuestion, type TextAnswer } from './question';
import { textView } from './view.svelte';

const MOST_BYTES = 1 << 20;

export class TextData {
  wantsAll = $state(false);
  /** where the slider is, until it is known which step that is */
  private moved = $state<number | null>(null);
  private readonly query = new LiveQuery<TextAnswer>();

  constructor(readonly card: string) {}

  readonly tag = $derived.by(() => cardOf(this.card).tags[0]);
  run = $derived.by((): Run | undefined => {
    const { run } = cardOf(this.card);
    return hub.runs.find(({ name }) => name === run);
  });
  private readonly runId = $derived(this.run?.id); // the run itself changes with every point
  /** The step that the viewer wants; null: the newest. */
  wanted = $derived.by(() => steps.stepOf(this.card));

  point = $derived(this.query.answer?.point ?? null);
  total = $derived(this.query.answer?.total ?? 0);
  index = $derived(this.moved ?? this.query.answer?.index ?? 0);
  step = $derived(this.point ? toNumber(this.point.step) : NaN);
  /** Another step than the one that is wanted is shown, since there is none there. */
  isNearest = $derived(this.wanted !== null && this.point !== null && this.step !== this.wanted);

  get trouble() {
    return this.query.trouble;
  }
  get isEmpty(): boolean {
    return this.query.answer !== undefined && this.point === null;
  }
  tryNow(): void {
    this.query.tryNow();
  }
  set inSight(isInSight: boolean) {
    this.query.setPriority(isInSight ? IN_SIGHT : AHEAD);
  }

  /** Inside an effect. */
  follow(): void {
    this.query.follow(() => {
      if (this.runId === undefined) return null;
      const { moved, wanted } = this;
      return textQuestion({
        run: this.runId,
        tag: this.tag,
        where: moved !== null ? { from: moved } : wanted === null ? { from: 0 } : { at: wanted },
        markdown: textView.markdown,
        max: this.wantsAll ? 0 : MOST_BYTES,
      });
    });
    // the slider has arrived: from now on the step counts, however many texts come
    $effect(() => {
      const answer = this.query.answer;
      if (!answer?.point || !('from' in answer.ask.where) || answer.ask.where.from !== this.moved) return;
      steps.setStep(this.card, this.moved === 0 ? null : toNumber(answer.point.step));
      this.moved = null;
    });
  }

  /** To the text at this index, 0 being the newest. */
  slide(index: number): void {
    this.moved = Math.max(0, Math.min(this.total - 1, index));
  }
  goTo(step: number): void {
    this.moved = null;
    steps.setStep(this.card, step);
  }
}
