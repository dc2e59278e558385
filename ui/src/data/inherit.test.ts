import { describe, expect, it } from 'vitest';
import { withInherited } from './inherit';
import type { Run } from './types';

const run = (name: string, hparams?: Run['hparams']): Run => ({ name, hparams }) as Run;
const valueIn = (runs: Run[], name: string) => runs.find((r) => r.name === name)?.hparams?.lr;

describe('hyperparameters of runs beneath others', () => {
  it('are those of the nearest run above that logged some', () => {
    const runs = withInherited([
      run('a', { lr: 1 }),
      run('a/b/validation'),
      run('a/b', { lr: 2 }),
      run('a/train'),
      run('ab'),
      run('c/train'),
    ]);
    expect(valueIn(runs, 'a/b/validation')).toBe(2);
    expect(valueIn(runs, 'a/train')).toBe(1);
    expect(valueIn(runs, 'ab')).toBeUndefined();
    expect(valueIn(runs, 'c/train')).toBeUndefined();
  });
  it('never replace what a run logged itself', () => {
    expect(valueIn(withInherited([run('a', { lr: 1 }), run('a/b', { lr: 3 })]), 'a/b')).toBe(3);
  });
  it('come from the root run, too', () => {
    expect(valueIn(withInherited([run('.', { lr: 4 }), run('validation'), run('x/y')]), 'x/y')).toBe(4);
  });
  it('leave the list alone when nobody logged any', () => {
    const runs = [run('a'), run('a/b')];
    expect(withInherited(runs)).toBe(runs);
  });
});
