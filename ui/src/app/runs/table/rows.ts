// The rows of the table: runs in a list, in groups, or in a tree of folders. What is listed, in which order and what is
// folded comes from outside.
import { naturalCompare, splitTag } from '../../../base/names/natural';
import { rowsOf, treeOf, type TreeNode } from '../../../base/names/tree';
import type { Run } from '../../../data/types';
import { abridge, tellApart } from '../../../base/names/apart';
import { compareKeys, grouped, withoutRole } from '../groups/groups';

export interface GroupRow {
  kind: 'group';
  key: string;
  label: string;
  level: number;
  runs: Run[];
  open: boolean;
  /** how the address names all of it: "a/b/"; "" when it has no such name */
  folder: string;
  /** its name among the groups that have a colour; null for a folder that holds folders only */
  colourKey: string | null;
}
export interface RunRow {
  kind: 'run';
  run: Run;
  folder: string;
  label: string;
  level: number;
}
export type Row = GroupRow | RunRow;

interface Listing {
  /** in order */
  runs: readonly Run[];
  isSorted: boolean;
  isOpen: (key: string) => boolean;
  nameOf: (run: Run) => string;
  /** letters that a name has room for */
  room: number;
}

const runRow = (run: Run, [folder, label]: [string, string], level: number): RunRow => ({
  kind: 'run',
  run,
  folder,
  label,
  level,
});

export function flatRows({ runs, nameOf, room }: Listing): Row[] {
  const labels = abridge(runs.map(nameOf), room);
  return runs.map((run) => runRow(run, splitTag(labels.get(nameOf(run)) ?? ''), 1));
}

/** What the members of a folder are called in it. */
function labelsIn(key: string, names: readonly string[]): (name: string) => string {
  const labels = tellApart(names);
  const bare = (name: string) => (name.startsWith(`${key}/`) ? name.slice(key.length + 1) : name);
  return (name) => (names.length > 1 ? (labels.get(name) ?? name).replace(/^…|…$/g, '') : bare(name));
}

/** Without an order of runs the groups come by name, else by their first run. */
export function groupRows(
  { runs, isSorted, isOpen, nameOf, room }: Listing,
  keyOf: (run: Run) => string,
  keyIsFolder: boolean,
): Row[] {
  const groups = grouped(runs, keyOf);
  const keys = [...groups.keys()];
  if (!isSorted) keys.sort(compareKeys);
  return keys.flatMap((key): Row[] => {
    const members = groups.get(key) ?? [];
    const open = isOpen(key);
    const row: GroupRow = { kind: 'group', key, label: key, level: 1, runs: members, open, folder: '', colourKey: key };
    if (!open) return [row];
    const names = members.map(nameOf);
    const labels = abridge(names, room);
    const labelOf = keyIsFolder ? labelsIn(withoutRole(key), names) : (name: string) => labels.get(name) ?? name;
    return [row, ...members.map((run) => runRow(run, splitTag(labelOf(nameOf(run))), 2))];
  });
}

/** The tree's shape follows from names only: it is kept while they stay the same, whatever else is new. */
export class Tree {
  #names: string[] = [];
  #nodes: TreeNode[] = [];
  #byName = new Float64Array();

  #take(all: readonly Run[]): void {
    if (all.length === this.#names.length && all.every((run, i) => run.name === this.#names[i])) return;
    const names = all.map((run) => run.name);
    this.#names = names;
    this.#nodes = treeOf(names);
    this.#byName = new Float64Array(names.length);
    names
      .map((_, i) => i)
      .sort((a, b) => naturalCompare(names[a], names[b]))
      .forEach((at, place) => (this.#byName[at] = place));
  }

  /** `all` give the shape, those of the listing are in it. */
  rows(all: readonly Run[], { runs, isSorted, isOpen, nameOf }: Listing): Row[] {
    this.#take(all);
    const rank = new Float64Array(all.length).fill(-1);
    const at = new Map(all.map((run, i) => [run.id, i]));
    runs.forEach((run, place) => {
      const i = at.get(run.id) ?? -1;
      if (i >= 0) rank[i] = isSorted ? place : this.#byName[i];
    });
    return rowsOf(this.#nodes, rank, isOpen).map(({ node, level, open, members, whole }): Row => {
      if (node.leaf < 0) {
        const holdsRuns = node.children.some((child) => child.leaf >= 0 && !child.label.includes('/'));
        return {
          kind: 'group',
          key: node.key,
          label: node.label,
          level,
          runs: members.map((i) => all[i]),
          open,
          folder: whole ? node.key : '',
          colourKey: holdsRuns ? node.key.slice(0, -1) : null,
        };
      }
      const run = all[node.leaf];
      const name = nameOf(run);
      return runRow(run, ['', name === run.name ? node.label : name], level);
    });
  }
}
