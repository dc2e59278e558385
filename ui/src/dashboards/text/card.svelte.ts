// The text of one card, at the wanted step or the newest one, kept up to date by LiveQuery. Of a very long text only the
// beginning is requested, until the viewer asks for all of it.
import { apiUrl, hub, LiveQuery, toNumber, type Run } from '../../public';
import { OneRun } from '../../rooms/card/one.svelte';
import { steps } from '../../rooms/steps/steps.svelte';
import { textQuestion, type TextAnswer, type TextAsk } from './question';
import { textView } from './view.svelte';

const MOST_BYTES = 1 << 20;
export const MOST_COMPARED = 1 << 20;

export class TextData extends OneRun<TextAnswer> {
  wantsAll = $state(false);
  /** for tensors with more than two dimensions: the indices of the shown part */
  slice = $state.raw<readonly number[]>([]);
  /** the index of the slider, until the step at that index is known */
  private moved = $state<number | null>(null);

  mode = $derived.by(() => textView.modeOf(this.card));

  point = $derived(this.query.answer?.point ?? null);
  total = $derived(this.query.answer?.total ?? 0);
  index = $derived(this.moved ?? this.query.answer?.index ?? 0);
  step = $derived(this.point ? toNumber(this.point.step) : NaN);
  /** The text as it was logged, with the cells of a table as lines; null if it was requested as HTML. */
  raw = $derived(this.point?.strings?.join('\n') ?? null);
  /** true if another step is shown, because there is no text at the wanted one */
  isNearest = $derived(this.wanted !== null && this.point !== null && this.step !== this.wanted);
  /** Where the server has the logged text (its first string, if it has several). */
  path = $derived.by(() =>
    this.runId === undefined || !this.point
      ? ''
      : `blob?${new URLSearchParams({ run: String(this.runId), tag: this.tag, step: String(this.point.step) })}`,
  );
  /** The URL of a file with all texts of the series. */
  exportUrl(format: 'csv' | 'json'): string {
    return apiUrl(`text/export?${new URLSearchParams({ run: String(this.runId ?? 0), tag: this.tag, format })}`);
  }

  /** The parameters of the request. */
  ask(run: number): TextAsk {
    const { moved, wanted, mode } = this;
    return {
      run,
      tag: this.tag,
      where: moved !== null ? { from: moved } : wanted === null ? { from: 0 } : { at: wanted },
      form: mode === 'raw' || mode === 'diff' ? 'raw' : textView.markdown ? 'markdown' : 'html',
      max: this.wantsAll ? 0 : MOST_BYTES,
      slice: this.slice,
    };
  }

  /** To be called in an effect. */
  follow(): void {
    this.query.follow(() => {
      return this.runId === undefined ? null : textQuestion(this.ask(this.runId));
    });
    // The text at the slider's index has arrived. From now on its step is kept, so that it stays when new texts arrive.
    $effect(() => {
      const answer = this.query.answer;
      if (!answer?.point || !('from' in answer.ask.where) || answer.ask.where.from !== this.moved) return;
      steps.setStep(this.card, this.moved === 0 ? null : toNumber(answer.point.step));
      this.moved = null;
    });
  }

  /** Shows the text at this index; 0 is the newest. */
  slide(index: number): void {
    this.moved = Math.max(0, Math.min(this.total - 1, index));
  }
  goTo(step: number): void {
    this.moved = null;
    steps.setStep(this.card, step);
  }
}

/** The text that a card's text is compared with. */
export class OtherText {
  /** the index of the slider, until the step at that index is known */
  private moved = $state<number | null>(null);
  private readonly query = new LiveQuery<TextAnswer>();

  constructor(private readonly data: TextData) {}

  private readonly other = $derived.by(() => textView.otherOf(this.data.card));
  run = $derived.by((): Run | undefined =>
    this.other.run === '' ? this.data.run : hub.runs.find(({ name }) => name === this.other.run),
  );
  private readonly runId = $derived(this.run?.id);
  point = $derived(this.query.answer?.point ?? null);
  total = $derived(this.query.answer?.total ?? 0);
  index = $derived(this.moved ?? this.query.answer?.index ?? 0);
  text = $derived(this.point?.strings?.join('\n') ?? null);

  /** Is it the very text that it is compared with? The first text of a run has none before it. */
  readonly isItself = $derived.by(() => {
    const { data, point } = this;
    return point !== null && data.point !== null && this.runId === data.runId && point.step === data.point.step;
  });

  get trouble() {
    return this.query.trouble;
  }
  tryNow(): void {
    this.query.tryNow();
  }

  follow(): void {
    this.query.follow(() => {
      const { data, other, runId, moved } = this;
      if (runId === undefined || !data.point || data.mode !== 'diff') return null;
      const isOwn = runId === data.run?.id;
      const before = Math.min(data.total - 1, data.index + 1);
      const where =
        moved !== null
          ? { from: moved }
          : other.step !== null
            ? { at: other.step }
            : isOwn
              ? { from: before }
              : { at: data.step };
      return textQuestion({ run: runId, tag: data.tag, where, form: 'raw', max: MOST_COMPARED });
    });
    // as for the card's own text: the step at the slider's index is kept, so that it stays when new texts arrive
    $effect(() => {
      const answer = this.query.answer;
      if (!answer?.point || !('from' in answer.ask.where) || answer.ask.where.from !== this.moved) return;
      this.goTo(toNumber(answer.point.step));
    });
  }

  /** Compares with the text at this index; 0 is the newest. */
  slide(index: number): void {
    this.moved = Math.max(0, Math.min(this.total - 1, index));
  }
  goTo(step: number): void {
    this.moved = null;
    textView.setOther(this.data.card, { ...this.other, step });
  }
  choose(run: string): void {
    this.moved = null;
    textView.setOther(this.data.card, { run: run === this.data.run?.name ? '' : run, step: null });
  }
}
