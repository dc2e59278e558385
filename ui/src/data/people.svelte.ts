// What people noted: names, notes, hidden runs, saved views. Changes show at once and are kept by the server, one after
// the other; what somebody else changed meanwhile is not overwritten.
import { api } from './api';
import type { People, StateItems } from './types';

export class Notes {
  items = $state.raw<StateItems>({});
  persistent = $state(false);
  private revision = 0;
  private keeping: Promise<unknown> = Promise.resolve();

  set(people: People): void {
    this.items = people.items;
    this.revision = people.revision;
    this.persistent = people.persistent;
  }

  async load(): Promise<void> {
    const reply = await api.state();
    if (reply.ok) this.set(reply.value);
  }

  /** Answers whether the server kept the change. */
  remember(items: StateItems): Promise<boolean> {
    this.put(items);
    const kept = this.keeping.then(() => this.keep(items));
    this.keeping = kept;
    return kept;
  }

  /** Onto what is known at this moment: others may have changed other things. */
  private put(items: StateItems): void {
    const next = { ...this.items };
    for (const [key, value] of Object.entries(items)) {
      if (value === null) delete next[key];
      else next[key] = value;
    }
    this.items = next;
  }

  private async keep(items: StateItems): Promise<boolean> {
    let reply = await api.patchState(this.revision, items);
    if (!reply.ok && reply.error.code === '409') {
      await this.load();
      this.put(items);
      reply = await api.patchState(this.revision, items);
    }
    if (reply.ok) this.revision = reply.value.revision;
    return reply.ok;
  }
}
