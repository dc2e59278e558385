// The state that all cards of one run and one tag share: the run, its name, the step that the viewer wants to see.
import { cardOf, hub, runs, type Run } from '../../public';
import { steps } from '../steps/steps.svelte';
import { Asked } from './asked.svelte';

export class OneRun<Answer> extends Asked<Answer> {
  constructor(readonly card: string) {
    super();
  }

  readonly tag = $derived.by(() => cardOf(this.card).tags[0]);
  readonly run = $derived.by((): Run | undefined => {
    const { run } = cardOf(this.card);
    return hub.runs.find(({ name }) => name === run);
  });
  /** The id of the run. It never changes, while the run object is a new one with every logged point. */
  readonly runId = $derived(this.run?.id);
  readonly runName = $derived.by(() => (this.run ? runs.nameOf(this.run) : (cardOf(this.card).run ?? '')));
  readonly label = $derived(`${this.runName} · ${this.tag}`);
  /** The step that the viewer chose; null means the newest step. */
  readonly wanted = $derived.by(() => this.wantedStep());

  protected wantedStep(): number | null {
    return steps.stepOf(this.card);
  }
}
