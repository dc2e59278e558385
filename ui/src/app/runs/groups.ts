// To which group a run belongs: its folder, what an expression finds in its name, a hyperparameter, its tags. "by" is
// the text that is in the address: path, tree, tag, regex:EXPRESSION, hparam:NAME.
import { naturalCompare } from '../../base/natural';
import type { Run } from '../../data/types';

export const NO_GROUP = '–';

const regexes = new Map<string, RegExp | null>();
function regexOf(source: string): RegExp | null {
  let regex = regexes.get(source);
  if (regex === undefined) {
    try {
      regex = new RegExp(source);
    } catch {
      regex = null;
    }
    if (regexes.size > 200) regexes.clear();
    regexes.set(source, regex);
  }
  return regex;
}

export function isGoodRegex(source: string): boolean {
  return regexOf(source) !== null;
}

export function keyOf(run: Run, by: string, tags: readonly string[] | undefined): string {
  if (by === 'path' || by === 'tree') {
    const at = run.name.lastIndexOf('/');
    return at < 0 ? '.' : run.name.slice(0, at);
  }
  if (by === 'tag') return tags?.length ? [...tags].sort().join(', ') : NO_GROUP;
  if (by.startsWith('hparam:')) return String(run.hparams?.[by.slice(7)] ?? NO_GROUP);
  if (by.startsWith('regex:')) {
    const found = regexOf(by.slice(6))?.exec(run.name);
    if (!found) return NO_GROUP;
    return found.length > 1
      ? found
          .slice(1)
          .map((part) => part ?? '')
          .join(' ')
      : found[0];
  }
  return '';
}

/** Names of groups in order: numbers by size, others as people count, those without one last. */
export function compareKeys(a: string, b: string): number {
  if (a === NO_GROUP || b === NO_GROUP) return Number(a === NO_GROUP) - Number(b === NO_GROUP);
  const [x, y] = [a === '' ? NaN : Number(a), b === '' ? NaN : Number(b)];
  return Number.isFinite(x) && Number.isFinite(y) && x !== y ? x - y : naturalCompare(a, b);
}

/** In the order of their first run. */
export function grouped(runs: readonly Run[], keyOfRun: (run: Run) => string): Map<string, Run[]> {
  const groups = new Map<string, Run[]>();
  for (const run of runs) {
    const key = keyOfRun(run);
    const list = groups.get(key);
    if (list) list.push(run);
    else groups.set(key, [run]);
  }
  return groups;
}
