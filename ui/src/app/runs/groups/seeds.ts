// Runs that differ only by their seed: a hyperparameter called seed, else the seed in their names, else a number at the end
// of their names. What was found is told, so that a viewer can judge it.
import { naturalCompare } from '../../../base/names/natural';
import { roleOf } from '../../../base/names/pairs';
import type { Run } from '../../../data/types';
import { NO_GROUP } from './groups';

export interface Seeds {
  from: 'hparam' | 'name' | 'number' | null;
  /** the hyperparameter, or the word as it is in a name */
  what: string;
  settings: number; // groups
  most: number; // seeds of a setting
  keyOf: (run: Run) => string;
}

const SEED_HPARAM = /(?:^|[._/ -])(?:random_?)?(?:seed|rng)$/i;
const IN_NAME = [
  /(?:^|[^a-z0-9])(?:random_?)?(?:seed|rng)[-_=.]?\d+(?![a-z0-9])/i,
  /(?:^|[^a-z0-9])s[-_=]?\d+(?![a-z0-9])/i,
];
const NUMBER = /[-_/.]\d+$/;

/** The name without its seed; null when there is none in it. */
function without(name: string, pattern: RegExp): { stem: string; word: string } | null {
  const { stem } = roleOf(name);
  const found = pattern.exec(stem);
  if (!found) return null;
  const rest = stem.slice(0, found.index) + stem.slice(found.index + found[0].length);
  return { stem: rest.replace(/^[-_/.,]+/, '') || '.', word: found[0].replace(/^[^a-z0-9]/i, '') };
}

function sums(runs: readonly Run[], keyOf: (run: Run) => string): { settings: number; most: number } {
  const members = new Map<string, Set<string>>();
  for (const run of runs) {
    const key = keyOf(run);
    if (key === NO_GROUP) continue;
    const names = members.get(key);
    if (names) names.add(roleOf(run.name).stem);
    else members.set(key, new Set([roleOf(run.name).stem]));
  }
  return { settings: members.size, most: Math.max(0, ...[...members.values()].map((names) => names.size)) };
}

function byHparam(runs: readonly Run[]): Seeds | null {
  const names = new Set(runs.flatMap((run) => Object.keys(run.hparams ?? {})));
  const seed = [...names].find((name) => SEED_HPARAM.test(name));
  if (seed === undefined) return null;
  const valuesOf = (name: string) => new Set(runs.flatMap(({ hparams }) => (hparams ? [hparams[name]] : [])));
  if (valuesOf(seed).size < 2) return null;
  const others = [...names].filter((name) => name !== seed && valuesOf(name).size > 1).sort(naturalCompare);
  const keyOf = ({ hparams }: Run) => {
    if (hparams?.[seed] === undefined) return NO_GROUP;
    return others.map((name) => `${name}=${String(hparams[name] ?? NO_GROUP)}`).join(', ') || '.';
  };
  return { from: 'hparam', what: seed, ...sums(runs, keyOf), keyOf };
}

function byName(runs: readonly Run[], pattern: RegExp, from: 'name' | 'number'): Seeds | null {
  const keyOf = (run: Run) => without(run.name, pattern)?.stem ?? NO_GROUP;
  const found = sums(runs, keyOf);
  if (found.most < 2) return null;
  const first = runs.map((run) => without(run.name, pattern)).find((one) => one !== null);
  return { from, what: first?.word ?? '', ...found, keyOf };
}

export function findSeeds(runs: readonly Run[]): Seeds {
  return (
    byHparam(runs) ??
    byName(runs, IN_NAME[0], 'name') ??
    byName(runs, IN_NAME[1], 'name') ??
    byName(runs, NUMBER, 'number') ?? { from: null, what: '', settings: 0, most: 0, keyOf: () => NO_GROUP }
  );
}
