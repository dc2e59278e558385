// Steps of several ranks as one: each number is one step of the training, which every rank has.
import type { ProfileStep, ProfileStepCost } from '../../../public';

/** Steps of several ranks by their number; null: each step is one of its own. */
function byNumber<S extends Pick<ProfileStep, 'number' | 'source'>>(steps: readonly S[]): S[][] | null {
  const found = new Map<number, S[]>();
  for (const step of steps) {
    const same = found.get(step.number);
    if (same) same.push(step);
    else found.set(step.number, [step]);
  }
  // steps of one rank that have the same number are steps of their own
  const isShared = [...found.values()].every((same) => new Set(same.map(({ source }) => source)).size === same.length);
  return isShared && found.size < steps.length ? [...found.values()] : null;
}

/** What a step is called: of steps that share a name, as those of JAX do, also its number. */
export function stepNames(
  steps: readonly Pick<ProfileStep, 'name' | 'number'>[],
): (step: Pick<ProfileStep, 'name' | 'number'>) => string {
  const first = new Map<string, number>();
  const shared = new Set<string>();
  for (const { name, number } of steps) {
    if ((first.get(name) ?? number) !== number) shared.add(name);
    first.set(name, number);
  }
  return ({ name, number }) => (shared.has(name) ? `${name} ${number}` : name);
}

/** How many steps of the training these are: those of several ranks count once. */
export const countSteps = (steps: readonly ProfileStep[]): number => byNumber(steps)?.length ?? steps.length;

/** The mean over ranks of every step; the steps as they are where there is only one rank. Order and place in the timeline
 * are those of the first rank. */
export function meanOfRanks(steps: readonly ProfileStepCost[]): ProfileStepCost[] {
  const shared = byNumber(steps);
  if (!shared) return [...steps];
  return shared.map((same) => {
    const mean = (of: (step: ProfileStepCost) => number) => same.reduce((n, step) => n + of(step), 0) / same.length;
    return {
      ...same[0],
      durationPs: mean(({ durationPs }) => durationPs),
      parts: same[0].parts.map((part, i) => ({
        ...part,
        ps: mean(({ parts }) => parts[i].ps),
        share: mean(({ parts }) => parts[i].share),
      })),
    };
  });
}
