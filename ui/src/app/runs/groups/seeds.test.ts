import { describe, expect, it } from 'vitest';
import type { Run } from '../../../data/types';
import { byHparams, hparamsOf, isHeldOut, keyOf, withoutRole, withRole } from './groups';
import { findSeeds } from './seeds';

const run = (name: string, hparams?: Run['hparams']): Run => ({ name, hparams }) as Run;
const sum = (runs: Run[]) => {
  const { from, what, settings, most, keyOf: key } = findSeeds(runs);
  return { from, what, settings, most, keys: [...new Set(runs.map(key))] };
};

describe('runs that differ by their seed', () => {
  it('are found by a hyperparameter, whatever else differs makes the groups', () => {
    const runs = [0.1, 0.01].flatMap((lr) =>
      [1, 2, 3].map((seed) => run(`r${lr}-${seed}`, { lr, seed, model: 'vit' })),
    );
    expect(sum(runs)).toEqual({
      from: 'hparam',
      what: 'seed',
      settings: 2,
      most: 3,
      keys: ['lr=0.1', 'lr=0.01'],
    });
  });
  it('are found by their names, validation beside training', () => {
    const runs = ['vit/seed1', 'vit/seed2', 'cnn_seed-7', 'cnn_seed-8'].flatMap((n) => [
      run(`${n}/train`),
      run(`${n}/validation`),
    ]);
    expect(sum(runs)).toEqual({ from: 'name', what: 'seed1', settings: 2, most: 2, keys: ['vit', 'cnn'] });
    expect(sum([run('a-s1-lr3'), run('a-s2-lr3'), run('a-s1-lr4')]).keys).toEqual(['a-lr3', 'a-lr4']);
  });
  it('may be a number at the end, and are not made up', () => {
    expect(sum([run('a/1'), run('a/2'), run('b/1')])).toMatchObject({ from: 'number', settings: 2, most: 2 });
    expect(sum([run('adam'), run('sgd')])).toMatchObject({ from: null, settings: 0 });
    expect(sum([run('resnet50'), run('resnet101')]).from).toBeNull();
  });
});

describe('groups', () => {
  it('by folder do not mix levels: a run that has no folder is its own', () => {
    const key = (name: string) => keyOf(run(name), 'path', undefined);
    expect(['vit/seed1', 'vit/seed1/train', 'adam', 'adam/validation', 'train', '.'].map(key)).toEqual([
      'vit',
      'vit',
      'adam',
      'adam',
      '.',
      '.',
    ]);
  });
  it('by several hyperparameters name each of them', () => {
    const by = byHparams(['lr', 'opt,x']);
    expect(hparamsOf(by)).toEqual(['lr', 'opt,x']);
    expect(keyOf(run('a', { lr: 0.1, 'opt,x': 'adam' }), by, undefined)).toBe('lr=0.1, opt,x=adam');
    expect(byHparams(['lr'])).toBe('hparam:lr');
    expect(byHparams([])).toBe('');
  });
  it('have the role at the end of their key', () => {
    expect(withRole('a', 'validation')).toBe('a · validation');
    expect(withoutRole('a · validation')).toBe('a');
    expect(withoutRole('a · b')).toBe('a · b');
    expect([withRole('a', 'train'), withRole('a', 'test'), 'a'].map(isHeldOut)).toEqual([false, true, false]);
  });
});
