// A question to the server as data: which requests answer it, how an answer is made of their replies, and what it
// depends on. Queries asks it, shares it among all that ask the same, and asks again when something it depends on grew.
import type { Result } from '../../base/result';
import type { Depends, Outdated } from './news';

/** One request below api/v1/: a POST with a body, a GET without. */
export interface Ask {
  path: string;
  body?: unknown;
  as: 'json' | 'bytes';
}

export interface Question<Answer> {
  /** Questions with equal keys are the same question: one request, one answer. */
  readonly key: string;
  /** Questions of one family can start from each other's answers: those that differ in their runs, say. */
  readonly family?: string;
  /** null: the answer never gets out of date. */
  readonly depends: Depends | null;
  /** Milliseconds from one request to the next, at least. */
  readonly every?: number;
  /**
   * The requests to make, given the answer that is held (perhaps that of another question of the family) and the runs
   * for which it is out of date. None: the answer that is held says it all.
   */
  asks(held: Answer | undefined, outdated: Outdated): Ask[];
  /** The answer, from the replies to `asks` in their order. `held` may not be changed. */
  take(replies: unknown[], held: Answer | undefined, outdated: Outdated): Result<Answer>;
  /** Of a long answer the server sends a part at a time: the runs of which more is there. It is asked for at once, and whoever
   * watches is told when the answer is whole. */
  rest?(answer: Answer): Outdated;
  /** Bytes that the answer keeps in memory, roughly. */
  sizeOf(answer: Answer): number;
}
