import { describe, expect, it } from 'vitest';
import type { Run } from '../../../data/types';
import { compareKeys, grouped, isGoodRegex, keyOf, NO_GROUP } from '../groups/groups';
import { sortedBy } from './order';

const run = (name: string, hparams?: Run['hparams']): Run =>
  ({
    id: 1,
    name,
    start: 0,
    last: 0,
    state: 'finished',
    points: 0,
    series: 0,
    epoch: 0,
    version: 0,
    attempts: 1,
    damaged: 0,
    hparams,
  }) as Run;

describe('the order of rows', () => {
  it('puts NaN and what is missing last, both ways', () => {
    const values = [3, null, NaN, 1, Infinity, -Infinity, 2];
    expect(sortedBy(values, (v) => v, false)).toEqual([-Infinity, 1, 2, 3, Infinity, NaN, null]);
    expect(sortedBy(values, (v) => v, true)).toEqual([Infinity, 3, 2, 1, -Infinity, NaN, null]);
  });
  it('counts in texts as people do, and keeps equals in their order', () => {
    expect(sortedBy(['b10', 'b2', 'a'], (v) => v, false)).toEqual(['a', 'b2', 'b10']);
    expect(
      sortedBy(
        [
          ['x', 1],
          ['y', 1],
          ['z', 0],
        ] as [string, number][],
        ([, v]) => v,
        false,
      ).map(([name]) => name),
    ).toEqual(['z', 'x', 'y']);
  });
});

describe('groups', () => {
  it('are folders, expressions, hyperparameters or tags', () => {
    expect(keyOf(run('a/b/c'), 'path', undefined)).toBe('a/b');
    expect(keyOf(run('c'), 'tree', undefined)).toBe('.');
    expect(keyOf(run('vit/seed3'), 'regex:(\\w+)/seed(\\d)', undefined)).toBe('vit 3');
    expect(keyOf(run('vit/seed3'), 'regex:seed', undefined)).toBe('seed');
    expect(keyOf(run('x'), 'regex:seed', undefined)).toBe(NO_GROUP);
    expect(keyOf(run('x', { lr: 0.1 }), 'hparam:lr', undefined)).toBe('0.1');
    expect(keyOf(run('x', { lr: false }), 'hparam:lr', undefined)).toBe('false');
    expect(keyOf(run('x'), 'tag', ['b', 'a'])).toBe('a, b');
    expect(keyOf(run('x'), 'tag', [])).toBe(NO_GROUP);
  });
  it('take a broken expression as none', () => {
    expect(isGoodRegex('(')).toBe(false);
    expect(keyOf(run('x'), 'regex:(', undefined)).toBe(NO_GROUP);
  });
  it('come by size where they are numbers, and those without one last', () => {
    expect(['0.001', NO_GROUP, '0.0003', '10', '2', 'adam'].sort(compareKeys)).toEqual([
      '0.0003',
      '0.001',
      '2',
      '10',
      'adam',
      NO_GROUP,
    ]);
  });
  it('keep the order of their first run', () => {
    expect([...grouped([run('b/1'), run('a/1'), run('b/2')], (r) => keyOf(r, 'path', undefined)).keys()]).toEqual([
      'b',
      'a',
    ]);
  });
});
