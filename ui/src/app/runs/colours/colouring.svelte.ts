// One colour a run or a group: chosen by people, else given in the order of all runs, not of those that happen to be
// asked for, so that a link that filters or sorts shows the same colours.
import { untrack } from 'svelte';
import { Colours, type Colour } from '../../../base/colours';
import { hub } from '../../../data/hub.svelte';
import type { Run } from '../../../data/types';
import { settings } from '../../settings.svelte';
import { view } from '../../view/view.svelte';
import { compareKeys, withoutRole } from '../groups/groups';
import { pairFrom, type Notes } from '../notes/notes.svelte';

const KEPT = 100;

export class Colouring {
  readonly #givenToRuns = new Colours();
  readonly #givenToGroups = new Map<string, Colours>();

  constructor(
    private readonly notes: Notes,
    private readonly keyOf: (run: Run, by: string) => string,
    /** whose colour a run has when nobody chose one for it */
    private readonly asIn: (run: Run) => Run | undefined,
  ) {}

  /** By which groups runs are coloured; "" when each has its own. */
  get by(): string {
    return view.colour === 'group' ? view.group : view.colour === 'run' ? '' : view.colour;
  }
  of(run: Run): string {
    const chosen = this.notes.get(run.name).colour;
    if (chosen !== undefined) return this.#inTheme(pairFrom(chosen));
    const other = this.asIn(run);
    if (other) return this.of(other);
    return this.by ? this.ofGroup(this.keyOf(run, this.by), this.by) : this.#inTheme(this.#ofRuns.of(run.name));
  }
  /** Training and validation of a group have one colour. */
  ofGroup(keyWithRole: string, by: string): string {
    const key = withoutRole(keyWithRole);
    const chosen = this.notes.colourOfGroup(key);
    return this.#inTheme(chosen === undefined ? this.#ofGroups(by).of(key) : pairFrom(chosen));
  }

  #inTheme(pair: Colour): string {
    return settings.dark ? pair.dark : pair.light;
  }
  readonly #ofRuns = $derived.by(() => {
    for (const run of hub.runs) this.#givenToRuns.of(run.name);
    return this.#givenToRuns;
  });
  #ofGroups(by: string): Colours {
    let colours = this.#givenToGroups.get(by);
    if (!colours) {
      colours = new Colours();
      if (this.#givenToGroups.size >= KEPT) this.#givenToGroups.clear();
      this.#givenToGroups.set(by, colours);
      const keys = new Set(untrack(() => hub.runs.map((run) => withoutRole(this.keyOf(run, by)))));
      for (const key of [...keys].sort(compareKeys)) colours.of(key);
    }
    return colours;
  }
}
