// What grew on the server since the page last looked, and which questions that concerns.
import { tagKey } from '../merge';
import type { Changes } from '../types';

/** What an answer is made of. What is absent means any: { runs } is everything of these runs. */
export interface Depends {
  plugin?: string;
  tags?: readonly string[];
  runs?: ReadonlySet<number>;
}

/** The runs for which an answer is out of date. */
export type Outdated = ReadonlySet<number> | 'all';
export const NOTHING: Outdated = new Set();
/** When more runs than this have news, the whole answer counts as out of date. */
const MOST_RUNS = 1000;

export function both(a: Outdated, b: Outdated): Outdated {
  if (a === 'all' || b === 'all') return 'all';
  if (a.size === 0) return b;
  if (b.size === 0) return a;
  return a.size + b.size > MOST_RUNS ? 'all' : new Set([...a, ...b]);
}
export const isNothing = (outdated: Outdated): boolean => outdated !== 'all' && outdated.size === 0;

export class News {
  /** null: there were too many to list */
  readonly #grown: Map<string, Set<number>> | null;
  readonly #runs: Set<number>;

  constructor(changes: Changes) {
    this.#runs = new Set(changes.runs.map(({ id }) => id));
    if (changes.more) {
      this.#grown = null;
      return;
    }
    this.#grown = new Map();
    for (const [run, tag, , plugin] of changes.series) {
      const key = tagKey(plugin, tag);
      const runs = this.#grown.get(key);
      if (runs) runs.add(run);
      else this.#grown.set(key, new Set([run]));
    }
  }

  /** For which runs an answer that depends on these is out of date now. */
  outdates({ plugin, tags, runs }: Depends): Outdated {
    if (!this.#grown) return 'all';
    if (plugin === undefined || tags === undefined) return runs ? common(this.#runs, runs) : 'all';
    let outdated = NOTHING;
    for (const tag of tags) {
      const grown = this.#grown.get(tagKey(plugin, tag));
      if (grown) outdated = both(outdated, runs ? common(grown, runs) : grown);
    }
    return outdated;
  }
}

function common(a: ReadonlySet<number>, b: ReadonlySet<number>): ReadonlySet<number> {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  const found = new Set<number>();
  for (const id of few) if (many.has(id)) found.add(id);
  return found;
}
