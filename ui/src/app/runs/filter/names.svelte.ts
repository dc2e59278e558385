// The names that conditions of the run filter may use: facts of a run, hyperparameters, metrics. The last part of a tag is
// enough where only one tag ends so. A name that nobody knows is told with those that are near it.
import { fuzzy } from '../../../base/names/fuzzy';
import { hub } from '../../../data/hub.svelte';
import { metricTags } from '../../tabs/dashboards';
import type { HParam } from '../table/columns.svelte';

export type NameKind = 'fact' | 'hparam' | 'metric';
export interface KnownName {
  name: string;
  kind: NameKind;
}
export const FILTER_FACTS = [
  'state',
  'tag',
  'note',
  'name',
  'duration',
  'points',
  'attempts',
  'damaged',
  'archived',
] as const;
const NEAR = 3;

export class Names {
  constructor(private readonly hparams: () => readonly HParam[]) {}

  all = $derived.by((): KnownName[] => [
    ...this.hparams().map(({ name }): KnownName => ({ name, kind: 'hparam' })),
    ...metricTags().map(({ tag }): KnownName => ({ name: tag, kind: 'metric' })),
    ...FILTER_FACTS.map((name): KnownName => ({ name, kind: 'fact' })),
  ]);
  readonly #known = $derived(new Map(this.all.toReversed().map((one) => [one.name, one])));

  resolve(name: string): KnownName | null {
    const exact = this.#known.get(name);
    if (exact) return exact;
    const ending = `/${name}`;
    const tags = this.all.filter((one) => one.kind === 'metric' && one.name.endsWith(ending));
    return tags.length === 1 ? tags[0] : null;
  }

  /** Known names like this one, the nearest first; its beginning is tried where all of it finds nothing. */
  near(name: string): string[] {
    for (let typed = name.toLowerCase(); typed.length > 0; typed = typed.slice(0, -1)) {
      const found = this.all
        .map((one) => ({ name: one.name, score: fuzzy(typed, one.name) }))
        .filter(({ score }) => score > 0)
        .sort((a, b) => b.score - a.score);
      if (found.length) return found.slice(0, NEAR).map((one) => one.name);
    }
    return [];
  }

  /** Nobody has this as a value, and no run has it in its name as "key=value". */
  isUnknown(name: string): boolean {
    if (this.resolve(name)) return false;
    return !hub.runs.some((run) => run.name.includes(`${name}=`) || run.name.includes(`${name}:`));
  }
}
