// Steps of several ranks as one: each number is one step of the training, which every rank has.
import type { ProfileStepCost } from '../../../public';

/** The mean over ranks of every step; the steps as they are where there is only one rank. Order and place in the timeline
 * are those of the first rank. */
export function meanOfRanks(steps: readonly ProfileStepCost[]): ProfileStepCost[] {
  const byNumber = new Map<number, ProfileStepCost[]>();
  for (const step of steps) {
    const same = byNumber.get(step.number);
    if (same) same.push(step);
    else byNumber.set(step.number, [step]);
  }
  // steps of one rank that have the same number are steps of their own
  const isShared = [...byNumber.values()].every(
    (same) => new Set(same.map(({ source }) => source)).size === same.length,
  );
  if (!isShared || byNumber.size === steps.length) return [...steps];
  return [...byNumber.values()].map((same) => {
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
