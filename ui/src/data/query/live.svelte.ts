// LiveQuery: what a card, a table or a drawer holds to have a question answered and kept up to date. While a new
// question is under way the answer to the one before stays, so that a chart that zooms is never empty.
import { untrack } from 'svelte';
import { BACKGROUND, IN_SIGHT, type Priority } from '../fetch.queue';
import { queries, type Entry, type Trouble, type Watcher } from './queries.svelte';
import type { Question } from './question';

/** A question that keeps changing (a slider, a resize) is asked when it has not changed for this long. */
const SETTLE_MS = 25;

export class LiveQuery<Answer> implements Watcher {
  #current = $state.raw<{ question: Question<Answer>; answer: Answer } | null>(null);
  /** Why there is no newer answer; null: nothing is wrong. */
  trouble = $state.raw<Trouble | null>(null);
  priority: Priority;
  #wanted: Question<Answer> | null = null;
  #entry: Entry<Answer> | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #settle = 0;

  constructor(priority: Priority = IN_SIGHT) {
    this.priority = priority;
  }

  /** The newest answer; perhaps still that of the question before. */
  get answer(): Answer | undefined {
    return this.#current?.answer;
  }
  /** Is the answer that of this question, or of one of its family? */
  answers({ key, family }: Question<Answer>): boolean {
    const answered = this.#current?.question;
    return answered?.key === key || (family !== undefined && answered?.family === family);
  }

  /** Inside an effect: asks whatever `question` says now; null: nothing. */
  follow(question: () => Question<Answer> | null, settle: () => number = () => SETTLE_MS): void {
    $effect(() => this.ask(question(), settle()));
    $effect(() => () => this.close());
  }

  ask(question: Question<Answer> | null, settle = SETTLE_MS): void {
    void queries.generation; // an effect that asks runs again when another server process has begun
    untrack(() => this.#want(question, settle));
  }

  tryNow(): void {
    if (this.#entry) queries.tryNow(this.#entry);
  }

  setPriority(priority: Priority): void {
    if (priority === this.priority) return;
    this.priority = priority;
    if (this.#entry) queries.reprioritize(this.#entry);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#wanted = null;
    if (this.#entry) queries.unwatch(this.#entry, this);
    this.#entry = null;
  }

  #want(question: Question<Answer> | null, settle: number): void {
    const isAsked = this.#entry?.question.key === question?.key;
    if (question?.key === this.#wanted?.key && (isAsked || settle === this.#settle)) return;
    clearTimeout(this.#timer);
    if (!question) return this.dropped();
    this.#wanted = question;
    this.#settle = settle;
    // the first question is asked at once, unless it is in the background: then those in sight go first
    const waits = this.#entry !== null || this.priority === BACKGROUND;
    if (waits && settle > 0) this.#timer = setTimeout(() => this.#turn(question), settle);
    else this.#turn(question);
  }

  /** Changes from the question before to this one, whose answer may be shown until the new one is here. */
  #turn(question: Question<Answer>): void {
    const before = this.#entry;
    this.#entry = queries.watch(question, this, before);
    if (before && before !== this.#entry) queries.unwatch(before, this);
    this.changed();
  }

  changed(): void {
    if (!this.#entry) return;
    const { answer, question, trouble } = this.#entry;
    if (answer !== undefined && (this.#current?.answer !== answer || this.#current.question !== question))
      this.#current = { question, answer };
    this.trouble = trouble;
  }

  dropped(): void {
    this.close();
    this.#current = null;
    this.trouble = null;
  }
}
