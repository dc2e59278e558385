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

describe('the state of runs of validation', () => {
  const alive = (name: string, state: Run['state'], last: number | null = null): Run => ({ name, state, last }) as Run;
  const stateOf = (runs: Run[], name: string) => withInherited(runs).find((r) => r.name === name)?.state;
  it('is that of their training when they have had no news', () => {
    expect(stateOf([alive('a', 'finished'), alive('a/validation', 'stalled')], 'a/validation')).toBe('finished');
    expect(stateOf([alive('a/train', 'running'), alive('a/validation', 'stalled')], 'a/validation')).toBe('running');
    expect(stateOf([alive('a', 'finished'), alive('a/train', 'stalled')], 'a/train')).toBe('finished');
    expect(stateOf([alive('a/train', 'stalled'), alive('a/eval', 'stalled')], 'a/eval')).toBe('stalled');
    const ended = [alive('a', 'finished'), alive('a/train', 'stalled'), alive('a/validation', 'stalled')];
    expect(stateOf(ended, 'a/validation')).toBe('finished');
  });
  it('is finished with a training that wrote after them', () => {
    const runs = [alive('a', 'finished', 20), alive('a/validation', 'running', 19), alive('a/test', 'running', 21)];
    expect(stateOf(runs, 'a/validation')).toBe('finished');
    expect(stateOf(runs, 'a/test')).toBe('running');
  });
  it('is their own while they have news, and that of other runs is always their own', () => {
    expect(stateOf([alive('a', 'finished'), alive('a/validation', 'running')], 'a/validation')).toBe('running');
    expect(stateOf([alive('a', 'finished'), alive('a/seed1', 'stalled')], 'a/seed1')).toBe('stalled');
  });
});
