import { describe, expect, it } from 'vitest';
import type { ProfileStepCost } from '../../../public';
import { countSteps, meanOfRanks, stepNames } from './ranks';

const step = (number: number, source: number, ps: number): ProfileStepCost => ({
  name: `ProfilerStep#${number}`,
  number,
  source,
  track: source,
  index: number,
  startPs: number * 100 + source,
  durationPs: ps,
  parts: [
    { kind: 'compute', ps: ps / 2, share: 0.5 },
    { kind: 'other', ps: ps / 2, share: 0.5 },
  ],
});

describe('steps of ranks', () => {
  it('are one bar each, with the mean of the ranks, at the place of the first one', () => {
    const seen = meanOfRanks([step(7, 0, 10), step(8, 0, 20), step(7, 1, 30), step(8, 1, 40)]);
    expect(seen.map(({ number, durationPs, startPs }) => [number, durationPs, startPs])).toEqual([
      [7, 20, 700],
      [8, 30, 800],
    ]);
    expect(seen[0].parts.map(({ ps }) => ps)).toEqual([10, 10]);
    expect(countSteps([step(7, 0, 10), step(8, 0, 20), step(7, 1, 30), step(8, 1, 40)])).toBe(2);
    expect(countSteps([step(7, 0, 10), step(7, 0, 20)])).toBe(2);
  });
  it('of one rank stay as they are, also where a number comes twice', () => {
    const one = [step(7, 0, 10), step(8, 0, 20)];
    expect(meanOfRanks(one)).toEqual(one);
    const twice = [step(0, 0, 10), step(0, 0, 20)];
    expect(meanOfRanks(twice)).toEqual(twice);
  });
});

it('steps that share a name are told apart by their numbers', () => {
  const of = (...names: string[]) => names.map((name, number) => ({ name, number }));
  const named = (steps: ReturnType<typeof of>) => steps.map(stepNames(steps));
  expect(named(of('train', 'train', 'evaluate'))).toEqual(['train 0', 'train 1', 'evaluate']);
  expect(named(of('ProfilerStep#0', 'ProfilerStep#1'))).toEqual(['ProfilerStep#0', 'ProfilerStep#1']);
  // the same step of two ranks
  const ranks = [
    { name: 'ProfilerStep#3', number: 3 },
    { name: 'ProfilerStep#3', number: 3 },
  ];
  expect(named(ranks)).toEqual(['ProfilerStep#3', 'ProfilerStep#3']);
});
