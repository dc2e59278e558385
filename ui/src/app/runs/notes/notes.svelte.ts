// What people say of runs: another name, a note, tags, a colour, archived or not; and colours of groups. Kept by the
// server (hub.people: "run/NAME", "group/KEY"), written by any version of any page, so everything read is checked.
import { withoutRole } from '../groups/groups';
import { PALETTE, type Colour } from '../../../base/colours';
import { naturalCompare } from '../../../base/names/natural';
import { hub } from '../../../data/hub.svelte';
import type { Run } from '../../../data/types';

/** a place in the palette, or "#rrggbb" */
export type ChosenColour = number | string;
export interface RunNote {
  name?: string;
  note?: string;
  archived?: boolean;
  colour?: ChosenColour;
  tags?: string[];
}

/** A change that was made; each promise tells whether the server keeps it. */
export interface Change {
  kept: Promise<boolean>;
  undo: () => Promise<boolean>;
  redo: () => Promise<boolean>;
}

const NOTHING: RunNote = {};
const text = (v: unknown): string | undefined => (typeof v === 'string' && v !== '' ? v : undefined);

export function colourFrom(v: unknown): ChosenColour | undefined {
  if (typeof v === 'number') return PALETTE[v] ? v : undefined;
  return typeof v === 'string' && /^#[0-9a-f]{6}$/i.test(v) ? v : undefined;
}

/** A colour that somebody picked is the same in both themes. */
export function pairFrom(chosen: ChosenColour): Colour {
  return typeof chosen === 'number' ? PALETTE[chosen] : { light: chosen, dark: chosen };
}

function noteFrom(v: object): RunNote {
  const had = v as Record<string, unknown>;
  return {
    name: text(had.name),
    note: text(had.note),
    archived: had.archived === true || undefined,
    colour: colourFrom(had.colour),
    tags: Array.isArray(had.tags)
      ? [...new Set(had.tags.filter((tag): tag is string => typeof tag === 'string' && tag !== ''))]
      : undefined,
  };
}

/** "a, b" as tags; a tag has no comma in it. */
export const tagsFrom = (typed: string): string[] => [
  ...new Set(
    typed
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  ),
];

export class Notes {
  readonly #byRun = $derived.by(() => {
    const notes = new Map<string, RunNote>();
    for (const [key, value] of Object.entries(hub.people))
      if (key.startsWith('run/') && value && typeof value === 'object') notes.set(key.slice(4), noteFrom(value));
    return notes;
  });
  readonly #groupColours = $derived.by(() => {
    const colours = new Map<string, ChosenColour>();
    for (const [key, value] of Object.entries(hub.people)) {
      if (!key.startsWith('group/') || !value || typeof value !== 'object') continue;
      const colour = colourFrom((value as { colour?: unknown }).colour);
      if (colour !== undefined) colours.set(key.slice(6), colour);
    }
    return colours;
  });

  get(name: string): RunNote {
    return this.#byRun.get(name) ?? NOTHING;
  }
  colourOfGroup(key: string): ChosenColour | undefined {
    return this.#groupColours.get(withoutRole(key));
  }

  /** Every tag that a run has, with how many have it. */
  tags = $derived.by(() => {
    const tags = new Map<string, number>();
    for (const run of hub.runs)
      for (const tag of this.get(run.name).tags ?? []) tags.set(tag, (tags.get(tag) ?? 0) + 1);
    return [...tags].map(([tag, n]) => ({ tag, n })).sort((a, b) => naturalCompare(a.tag, b.tag));
  });

  /** Changes the notes of one or many runs. Undo restores only the fields that it changed, and keeps later changes of others. */
  change(runs: readonly Run[], how: (had: RunNote, run: Run) => RunNote): Change {
    const before = new Map<string, RunNote>();
    const after = new Map<string, RunNote>();
    for (const run of runs) {
      const had = this.get(run.name);
      const changed = how(had, run);
      after.set(run.name, changed);
      before.set(run.name, Object.fromEntries(Object.keys(changed).map((key) => [key, had[key as keyof RunNote]])));
    }
    const set = (notes: ReadonlyMap<string, RunNote>) => this.#set(runs, (run) => notes.get(run.name) ?? NOTHING);
    return { kept: set(after), undo: () => set(before), redo: () => set(after) };
  }

  #set(runs: readonly Run[], fields: (run: Run) => RunNote): Promise<boolean> {
    const items: Record<string, RunNote | null> = {};
    for (const run of runs) {
      const now = { ...this.get(run.name), ...fields(run) };
      for (const key of Object.keys(now) as (keyof RunNote)[]) {
        const v = now[key];
        if (v === undefined || v === '' || v === false || (Array.isArray(v) && v.length === 0)) delete now[key];
      }
      items[`run/${run.name}`] = Object.keys(now).length ? now : null;
    }
    return hub.remember(items);
  }

  colourGroup(key: string, colour: ChosenColour | undefined): Promise<boolean> {
    return hub.remember({ [`group/${withoutRole(key)}`]: colour === undefined ? null : { colour } });
  }
}
