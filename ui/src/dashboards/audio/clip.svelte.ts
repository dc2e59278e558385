// One card's clip: the one at the step that is wanted, or the newest, and its picture; kept up to date by LiveQuery.
import { AHEAD, apiUrl, cardOf, hub, IN_SIGHT, LiveQuery, toNumber, type Run } from '../../public';
import { steps } from '../../rooms/steps/steps.svelte';
import type { Sound } from './player.svelte';
import { clipQuestion, pictureQuestion, type ClipAnswer, type Drawn } from './question';
import { audioView } from './view.svelte';

/** Pictures are asked for in a few widths, so that a resize asks seldom. */
const WIDTHS = [240, 480, 800, 1200, 1800];

export class ClipData {
  /** pixels that the picture has */
  width = $state(0);
  /** where the slider is, until it is known which step that is */
  private moved = $state<number | null>(null);
  private readonly query = new LiveQuery<ClipAnswer>();
  private readonly drawing = new LiveQuery<Drawn>();

  /** `fixed`: a step that does not follow the slider of the card; null: it follows. */
  constructor(
    readonly card: string,
    private readonly fixed: () => number | null = () => null,
  ) {}

  readonly tag = $derived.by(() => cardOf(this.card).tags[0]);
  run = $derived.by((): Run | undefined => {
    const { run } = cardOf(this.card);
    return hub.runs.find(({ name }) => name === run);
  });
  private readonly runId = $derived(this.run?.id); // the run itself changes with every point
  sample = $derived.by(() => audioView.sampleOf(this.tag));
  /** The step that the viewer wants; null: the newest. */
  wanted = $derived.by(() => this.fixed() ?? steps.stepOf(this.card));

  clip = $derived(this.query.answer?.clip ?? null);
  total = $derived(this.query.answer?.total ?? 0);
  samples = $derived(this.query.answer?.samples ?? 0);
  index = $derived(this.moved ?? this.query.answer?.index ?? 0);
  step = $derived(this.clip ? toNumber(this.clip.step) : NaN);
  /** Another step than the one that is wanted is shown, since there is none there. */
  isNearest = $derived(this.wanted !== null && this.clip !== null && this.step !== this.wanted);

  private readonly blob = $derived(this.clip?.blobs.at(this.sample));
  drawn = $derived(this.drawing.answer ?? null);
  /** Nothing that the server says of the clip forbids to play it. */
  canPlay = $derived.by(() => {
    const { clip, drawn } = this;
    if (!clip || drawn?.trouble === 'header') return false;
    return clip.type.startsWith('audio/') || clip.type.startsWith('video/');
  });
  /** What the player needs to play it. */
  sound = $derived.by((): Sound | null => {
    const { blob, drawn } = this;
    if (!this.canPlay || blob === undefined || (drawn?.trouble === undefined && drawn?.seconds === 0)) return null;
    return {
      card: this.card,
      tag: this.tag,
      url: apiUrl(blob),
      seconds: drawn?.seconds || (this.clip?.rate ? (this.clip.frames ?? 0) / this.clip.rate : 0),
      loudness: drawn?.loudness ?? NaN,
    };
  });
  url = $derived.by(() => (this.blob === undefined ? '' : apiUrl(this.blob)));

  get trouble() {
    return this.query.trouble ?? this.drawing.trouble;
  }
  get isEmpty(): boolean {
    return this.query.answer !== undefined && this.clip === null;
  }
  tryNow(): void {
    this.query.tryNow();
    this.drawing.tryNow();
  }
  set inSight(isInSight: boolean) {
    this.query.setPriority(isInSight ? IN_SIGHT : AHEAD);
    this.drawing.setPriority(isInSight ? IN_SIGHT : AHEAD);
  }

  /** Inside an effect. */
  follow(): void {
    this.query.follow(() => {
      if (this.runId === undefined) return null;
      const { moved, wanted, tag, sample } = this;
      const where = moved !== null ? { back: moved } : wanted === null ? { back: 0 } : { at: wanted };
      return clipQuestion({ run: this.runId, tag, sample, where });
    });
    this.drawing.follow(() => {
      const { blob, width } = this;
      if (blob === undefined || width === 0) return null;
      return pictureQuestion(blob, WIDTHS.find((w) => w >= width) ?? WIDTHS[WIDTHS.length - 1], audioView.scale);
    });
    // the slider has arrived: from now on the step counts, however many clips come
    $effect(() => {
      const answer = this.query.answer;
      if (!answer?.clip || !('back' in answer.ask.where) || answer.ask.where.back !== this.moved) return;
      steps.setStep(this.card, this.moved === 0 ? null : toNumber(answer.clip.step));
      this.moved = null;
    });
  }

  /** To the clip at this index, 0 being the newest. */
  slide(index: number): void {
    this.moved = Math.max(0, Math.min(this.total - 1, index));
  }
  goTo(step: number): void {
    this.moved = null;
    steps.setStep(this.card, step);
  }
}
