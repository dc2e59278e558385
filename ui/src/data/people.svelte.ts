// What people noted: names, notes, hidden runs, saved views. Changes show at once and are kept by the server, one after
// the other; what somebody else changed meanwhile is not overwritten. A change that cannot be sent is tried again with
// back-off, as every request of the page, and `trouble` tells why.
import { backoff } from '../base/backoff';
import type { Problem, Result } from '../base/result';
import { api } from './api';
import type { Trouble } from './query/queries.svelte';
import type { People, StateChanged, StateItems } from './types';

export class Notes {
  items = $state.raw<StateItems>({});
  persistent = $state(false);
  /** Why a change is not kept yet, and when it is tried again; null: nothing waits. */
  trouble = $state.raw<Trouble | null>(null);
  #revision = 0;
  #keeping: Promise<unknown> = Promise.resolve();
  /** changes that the server does not have yet, oldest first */
  readonly #waiting = new Set<StateItems>();
  /** ends the wait for the next try */
  #wake: (() => void) | null = null;

  set(people: People): void {
    this.items = people.items;
    this.#revision = people.revision;
    this.persistent = people.persistent;
    for (const items of this.#waiting) this.#put(items);
  }

  /** Another try now, if one waits. */
  tryNow(): void {
    this.#wake?.();
  }

  async load(): Promise<void> {
    const reply = await api.state();
    if (reply.ok) this.set(reply.value);
  }

  /** Answers whether the server kept the change. */
  remember(items: StateItems): Promise<boolean> {
    this.#put(items);
    this.#waiting.add(items);
    const kept = this.#keeping.then(() => this.#keep(items));
    this.#keeping = kept;
    return kept;
  }

  /** Onto what is known at this moment: others may have changed other things. */
  #put(items: StateItems): void {
    const next = { ...this.items };
    for (const [key, value] of Object.entries(items)) {
      if (value === null) delete next[key];
      else next[key] = value;
    }
    this.items = next;
  }

  async #keep(items: StateItems): Promise<boolean> {
    for (let failures = 1; ; failures++) {
      const reply = await this.#send(items);
      if (reply.ok) this.#revision = reply.value.revision;
      if (reply.ok || !reply.error.isTemporary) {
        this.#waiting.delete(items);
        this.trouble = null;
        return reply.ok;
      }
      await this.#wait(reply.error, backoff(failures, reply.error));
    }
  }

  async #send(items: StateItems): Promise<Result<StateChanged>> {
    const reply = await api.patchState(this.#revision, items);
    if (reply.ok || reply.error.code !== '409') return reply;
    await this.load();
    return api.patchState(this.#revision, items);
  }

  async #wait(problem: Problem, ms: number): Promise<void> {
    this.trouble = { ...problem, retryAt: Date.now() + ms };
    await new Promise<void>((done) => {
      this.#wake = done;
      setTimeout(done, ms);
    });
    this.#wake = null;
  }
}
