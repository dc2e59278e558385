// To which group a run belongs: its folder, what an expression finds in its name, hyperparameters, its tags. "by" is
// the text that is in the address: path, tree, tag, seeds, regex:EXPRESSION, hparam:NAME, hparams:NAME,NAME. Training and
// validation are never one group: where runs have roles, the key ends with the role.
import { joinList, splitList } from '../../../base/address/hash';
import { naturalCompare } from '../../../base/names/natural';
import { roleOf, type Role } from '../../../base/names/pairs';
import type { Run } from '../../../data/types';

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

/** The hyperparameters that are grouped by. */
export function hparamsOf(by: string): string[] {
  if (by.startsWith('hparams:')) return splitList(by.slice(8));
  return by.startsWith('hparam:') ? [by.slice(7)] : [];
}
export const byHparams = (names: readonly string[]): string =>
  names.length === 1 ? `hparam:${names[0]}` : names.length ? `hparams:${joinList(names)}` : '';

const ROLE = / · (?:train|validation|eval|test)$/;
export const withRole = (key: string, role: Role | ''): string => (role ? `${key} · ${role}` : key);
/** The key without the role: what training and validation of a group have in common. */
export const withoutRole = (key: string): string => key.replace(ROLE, '');
export const isHeldOut = (key: string): boolean => ROLE.test(key) && !key.endsWith(' · train');

/** The folder of a run without its role: that of vit/seed1/train is vit; a run that is alone in its folder is the folder. */
function folderOf(name: string): string {
  const { stem } = roleOf(name);
  const at = stem.lastIndexOf('/');
  return at < 0 ? stem || '.' : stem.slice(0, at);
}

/** The key of a run's group, its role aside. */
export function keyOf(run: Run, by: string, tags: readonly string[] | undefined): string {
  if (by === 'path') return folderOf(run.name);
  if (by === 'tree') {
    const at = run.name.lastIndexOf('/');
    return at < 0 ? '.' : run.name.slice(0, at);
  }
  if (by === 'tag') return tags?.length ? [...tags].sort().join(', ') : NO_GROUP;
  const hparams = hparamsOf(by);
  if (hparams.length === 1) return String(run.hparams?.[hparams[0]] ?? NO_GROUP);
  if (hparams.length) return hparams.map((name) => `${name}=${String(run.hparams?.[name] ?? NO_GROUP)}`).join(', ');
  if (by.startsWith('regex:')) {
    const found = regexOf(by.slice(6))?.exec(run.name);
    if (!found) return NO_GROUP;
    return found.length > 1
      ? found
          .slice(1)
          .filter((part) => part)
          .join(' ')
      : found[0];
  }
  return '';
}

/** Names of groups in order: numbers by size, others as people count, those without one last. */
export function compareKeys(a: string, b: string): number {
  const [ownA, ownB] = [withoutRole(a), withoutRole(b)];
  if (ownA !== ownB && (ownA !== a || ownB !== b)) return compareKeys(ownA, ownB);
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
