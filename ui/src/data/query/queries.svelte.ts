// Every question that the page asks the server, each once: equal questions share an entry. An entry is asked when
// somebody watches it and it is out of date, at most every 200 ms, in flight at most once, not while the page is
// hidden; a failure is tried again with back-off. Answers that nobody watches stay, up to a bound in bytes, so that a
// card that comes back into sight has its lines at once.
import { backoff } from '../../base/backoff';
import type { Problem, Result } from '../../base/result';
import { apiUrl } from '../api';
import { OTHER_INSTANCE } from '../fetch.once';
import { BACKGROUND, IN_SIGHT, type Priority } from '../fetch.queue';
import { fetchQueued, type Fetching } from '../fetcher';
import { isHidden, onShown } from '../page';
import { both, isNothing, NOTHING, type News, type Outdated } from './news';
import type { Question } from './question';

const EVERY_MS = 200;
const MOST_BYTES = 64 << 20;
/** Approximate bytes of an entry without its key and its answer. */
const ENTRY_BYTES = 500;

/** Why there is no newer answer, and when the next try is; null: only a person tries again. */
export interface Trouble extends Problem {
  retryAt: number | null;
}

/** Somebody who wants the answer. */
export interface Watcher {
  priority: Priority;
  /** There is an answer, or trouble, or the trouble is over. */
  changed(): void;
  /** The answer means nothing any more: another server process has begun. */
  dropped(): void;
}

export class Entry<Answer = unknown> {
  answer: Answer | undefined;
  /** an answer of the same family, to start from while there is none */
  seed: Answer | undefined;
  trouble: Trouble | null = null;
  outdated: Outdated = 'all';
  bytes = 0;
  readonly watchers = new Set<Watcher>();
  /** requests under way, and what was out of date when they left */
  flight: { parts: Fetching[]; outdated: Outdated } | null = null;
  askedAt = -Infinity;
  failures = 0;
  timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly question: Question<Answer>) {}

  get priority(): Priority {
    let best: Priority = BACKGROUND;
    for (const { priority } of this.watchers) if (priority < best) best = priority;
    return best;
  }
}

export class Queries {
  /** Grows when another server process begins: run ids of before mean nothing any more. */
  generation = $state(0);
  /** in order of use, the least recently used first */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #instance = '';
  #isSuspended = false;
  /** Called when a reply came from another server process. */
  onOtherInstance: () => void = () => {};

  constructor(private readonly mostBytes = MOST_BYTES) {}

  /** Once, when the page starts. */
  start(): void {
    onShown(() => this.#askAll());
    addEventListener('online', () => this.wake());
  }

  // ---- those who want answers ----

  /** `before`: the entry watched until now; an answer of the same family is a start. */
  watch<Answer>(question: Question<Answer>, watcher: Watcher, before?: Entry<Answer> | null): Entry<Answer> {
    let entry = this.#entries.get(question.key) as Entry<Answer> | undefined;
    if (entry) this.#entries.delete(question.key);
    else {
      entry = new Entry(question);
      const start = before?.answer ?? before?.seed;
      if (
        before &&
        start !== undefined &&
        question.family !== undefined &&
        before.question.family === question.family
      ) {
        entry.seed = start;
        entry.outdated = both(before.outdated, before.flight?.outdated ?? NOTHING);
      }
    }
    this.#entries.set(question.key, entry); // last: the most recently used
    entry.watchers.add(watcher);
    this.reprioritize(entry);
    this.#schedule(entry);
    return entry;
  }

  unwatch(entry: Entry, watcher: Watcher): void {
    entry.watchers.delete(watcher);
    if (entry.watchers.size > 0) return;
    clearTimeout(entry.timer);
    this.#cancel(entry);
    const { key } = entry.question;
    if (this.#entries.get(key) !== entry) return;
    this.#entries.delete(key);
    if (entry.answer !== undefined) this.#entries.set(key, entry); // last: the most recently used
    this.#evict();
  }

  /** A watcher came into sight or left it. */
  reprioritize(entry: Entry): void {
    entry.flight?.parts.forEach((part) => part.move(entry.priority));
  }

  /** Somebody asked for another try now. */
  tryNow(entry: Entry): void {
    if (entry.trouble) entry.trouble = { ...entry.trouble, retryAt: Date.now() };
    this.#schedule(entry);
  }

  /** Does something in sight wait for its first answer? */
  get isAwaited(): boolean {
    for (const entry of this.#entries.values())
      if (entry.answer === undefined && !entry.trouble && entry.watchers.size > 0 && entry.priority === IN_SIGHT)
        return true;
    return false;
  }

  // ---- the hub ----

  /** What the server says is new. */
  take(news: News): void {
    for (const entry of this.#entries.values()) {
      if (!entry.question.depends) continue;
      const outdated = news.outdates(entry.question.depends);
      if (isNothing(outdated)) continue;
      entry.outdated = both(entry.outdated, outdated);
      // a request that was refused may succeed now that the data has changed
      if (entry.trouble?.retryAt === null) this.tryNow(entry);
      else this.#schedule(entry);
    }
  }

  /** Everything may be out of date: what is watched is asked again. */
  refresh(): void {
    for (const entry of this.#entries.values()) {
      entry.outdated = 'all';
      this.#schedule(entry);
    }
  }

  /** The connection is back: no need to wait any longer, unless the server asked us to. */
  wake(): void {
    for (const entry of this.#entries.values())
      if (entry.trouble?.isTemporary && entry.trouble.retryAfter === undefined) this.tryNow(entry);
  }

  /** Another server process has begun: nothing is asked until its runs are known. */
  suspend(): void {
    this.#isSuspended = true;
    this.#drop();
  }

  #drop(): void {
    for (const entry of this.#entries.values()) {
      clearTimeout(entry.timer);
      this.#cancel(entry);
      for (const watcher of entry.watchers) watcher.dropped();
    }
    this.#entries.clear();
    this.#bytes = 0;
  }

  /** The runs of this server process are known: questions may be asked. */
  resume(instance: string): void {
    this.#isSuspended = false;
    if (instance === this.#instance) return this.#askAll();
    if (this.#instance !== '') this.#drop(); // this includes answers that were asked for meanwhile with old run ids
    this.#instance = instance;
    this.generation++;
  }

  // ---- asking ----

  #askAll(): void {
    for (const entry of this.#entries.values()) this.#schedule(entry);
  }

  #schedule(entry: Entry): void {
    clearTimeout(entry.timer);
    if (entry.watchers.size === 0 || entry.flight || this.#isSuspended || isHidden()) return;
    if (entry.answer !== undefined && isNothing(entry.outdated)) return;
    let due = entry.askedAt + (entry.question.every ?? EVERY_MS);
    if (entry.trouble) {
      if (entry.trouble.retryAt === null) return;
      due = Math.max(due, entry.trouble.retryAt);
    }
    const wait = due - Date.now();
    if (wait > 0) entry.timer = setTimeout(() => this.#ask(entry), wait);
    else this.#ask(entry);
  }

  #ask(entry: Entry): void {
    if (isHidden()) return;
    const { question, outdated } = entry;
    const held = entry.answer ?? entry.seed;
    const asks = question.asks(held, outdated);
    entry.outdated = NOTHING;
    if (asks.length === 0) return this.#finish(entry, question.take([], held, outdated), outdated);
    entry.askedAt = Date.now();
    const priority = entry.priority;
    const parts = asks.map(({ path, body, as }) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      return fetchQueued({ url: apiUrl(path), body: text, as, instance: this.#instance }, priority);
    });
    const flight = { parts, outdated };
    entry.flight = flight;
    void Promise.all(parts.map(({ result }) => result)).then((results) => {
      if (entry.flight !== flight) return; // cancelled
      entry.flight = null;
      const failed = results.find((result) => !result.ok);
      const values = results.map((result) => (result.ok ? result.value : undefined));
      this.#finish(entry, failed ?? question.take(values, held, outdated), outdated);
    });
  }

  #finish(entry: Entry, result: Result<unknown>, outdated: Outdated): void {
    if (result.ok) {
      entry.failures = 0;
      entry.trouble = null;
      this.#hold(entry, result.value);
      const rest = entry.question.rest?.(result.value) ?? NOTHING;
      if (!isNothing(rest)) {
        entry.outdated = both(entry.outdated, rest);
        return this.#ask(entry);
      }
    } else {
      const { error } = result;
      entry.failures++;
      entry.outdated = both(entry.outdated, outdated);
      // a damaged reply may arrive complete the next time
      const isTemporary = error.isTemporary ?? error.code === 'corrupt';
      const retryAt = isTemporary ? Date.now() + backoff(entry.failures, error) : null;
      entry.trouble = { ...error, isTemporary, retryAt };
      if (error.code === OTHER_INSTANCE) return this.onOtherInstance();
    }
    for (const watcher of entry.watchers) watcher.changed();
    this.#schedule(entry);
    this.#evict();
  }

  #cancel(entry: Entry): void {
    const { flight } = entry;
    if (!flight) return;
    entry.flight = null;
    entry.outdated = both(entry.outdated, flight.outdated);
    for (const part of flight.parts) part.cancel();
  }

  // ---- memory ----

  #hold(entry: Entry, answer: unknown): void {
    entry.answer = answer;
    entry.seed = undefined;
    this.#bytes -= entry.bytes;
    entry.bytes = entry.question.sizeOf(answer) + 2 * entry.question.key.length + ENTRY_BYTES;
    this.#bytes += entry.bytes;
  }

  /** Evicts answers that nobody watches, the least recently used first, until the rest fits. */
  #evict(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= this.mostBytes) return;
      if (entry.watchers.size > 0) continue;
      this.#bytes -= entry.bytes;
      this.#entries.delete(key);
    }
  }
}

export const queries = new Queries();
export const isAwaited = (): boolean => queries.isAwaited;
