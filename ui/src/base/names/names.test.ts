import { describe, expect, it } from 'vitest';
import { Colours, generated, hashName, oklch, PALETTE } from '../colours';
import { parseFilter, partsOfKey } from './filter';
import { fuzzy } from './fuzzy';
import { groupOf, naturalCompare, splitTag } from './natural';

describe('natural order', () => {
  it('counts numbers as numbers and puts folders first', () => {
    const names = ['layer10', 'layer2', 'a/b', 'a', 'a.b', 'layer02', 'a/a'];
    expect(names.sort(naturalCompare)).toEqual(['a', 'a/a', 'a/b', 'a.b', 'layer2', 'layer02', 'layer10']);
  });
  it('counts decimals as such where they begin with a zero', () => {
    const names = ['lr=0.03, b', 'lr=0.003, a', 'lr=0.01', 'lr=0.1', 'v1.10', 'v1.9'];
    expect(names.sort(naturalCompare)).toEqual(['lr=0.003, a', 'lr=0.01', 'lr=0.03, b', 'lr=0.1', 'v1.9', 'v1.10']);
  });
  it('takes tags apart', () => {
    expect(splitTag('train/a/loss')).toEqual(['train/a/', 'loss']);
    expect(splitTag('loss')).toEqual(['', 'loss']);
    expect(groupOf('train/a/loss')).toBe('train');
  });
});

describe('colours', () => {
  it('are the same for the same names in the same order, whatever comes later', () => {
    const a = new Colours();
    const b = new Colours();
    const first = ['x', 'y', 'z'].map((n) => a.of(n));
    expect(['x', 'y', 'z', 'w'].map((n) => b.of(n)).slice(0, 3)).toEqual(first);
  });
  it('never repeat among the first nine', () => {
    const c = new Colours();
    expect(new Set(Array.from({ length: 9 }, (_, i) => c.of(`run${i}`))).size).toBe(PALETTE.length);
  });
  it('are made from the hash afterwards, as valid colours', () => {
    const c = new Colours();
    for (let i = 0; i < 9; i++) c.of(`run${i}`);
    expect(c.of('late')).toEqual(generated(hashName('late')));
    expect(oklch(0.6, 0.12, 200)).toMatch(/^#[0-9a-f]{6}$/);
  });
});

describe('run filter', () => {
  const run = {
    name: 'vit/seed1',
    get: (key: string) => ({ lr: 0.02, state: 'running', opt: 'adam', tag: ['baseline', 'old'] })[key],
  };
  const test = (text: string) => {
    const parsed = parseFilter(text);
    return parsed.ok ? parsed.value.meets(run) : parsed.error.code;
  };
  it('is a regular expression, or conditions, or both', () => {
    expect(test('')).toBe(true);
    expect(test('^VIT')).toBe(true);
    expect(test('resnet')).toBe(false);
    expect(test('lr>0.01')).toBe(true);
    expect(test('lr>0.01 and state:running')).toBe(true);
    expect(test('lr>0.01 and state:finished')).toBe(false);
    expect(test('opt=adam and seed\\d')).toBe(true);
    expect(test('nothing>1')).toBe(false);
  });
  it('takes any of several values', () => {
    expect(test('tag:base')).toBe(true);
    expect(test('tag=old')).toBe(true);
    expect(test('tag=base')).toBe(false);
    expect(test('tag!=old')).toBe(false);
    expect(test('tag!=new')).toBe(true);
  });
  it('knows or, not and brackets, which stay those of a regular expression where they hold none of it', () => {
    expect(test('resnet or lr>0.01')).toBe(true);
    expect(test('resnet or lr>1')).toBe(false);
    expect(test('not resnet')).toBe(true);
    expect(test('not lr>0.01')).toBe(false);
    expect(test('lr>0.01 and not (state:finished or opt=sgd)')).toBe(true);
    expect(test('(resnet or vit) and (lr<0.01 or lr>0.01)')).toBe(true);
    expect(test('(resnet or vit) and lr<0.01')).toBe(false);
    expect(test('resnet or vit and lr<0.01')).toBe(false);
    expect(test('(vit|resnet)/(seed|s)\\d')).toBe(true);
    expect(test('(vit|resnet)/seed[)(]?1')).toBe(true);
    expect(test('lr>0.01 and')).toBe(true);
    expect(test('orange')).toBe(false);
  });
  it('takes keys and values in quotes, and the least, greatest or last value of a metric', () => {
    const keys = (text: string) => {
      const parsed = parseFilter(text);
      return parsed.ok ? parsed.value.keys : [];
    };
    expect(keys('"my loss" < 3 or min(val/loss)<=0.2 and opt="a and b"')).toEqual(['my loss', 'min(val/loss)', 'opt']);
    expect(partsOfKey('MIN( val/loss )')).toEqual({ of: 'min', name: 'val/loss' });
    expect(partsOfKey('lr')).toEqual({ of: '', name: 'lr' });
    expect(test('opt="adam"')).toBe(true);
  });
  it('finds settings that are part of a name', () => {
    const meets = (text: string, name: string) => {
      const parsed = parseFilter(text);
      return parsed.ok && parsed.value.meets({ name, get: () => undefined });
    };
    expect(meets('bs=32', 'vit-bs=32-x')).toBe(true);
    expect(meets('bs=64', 'vit-bs=32-x')).toBe(false);
  });
  it('reports a broken expression', () => expect(test('(')).toBe('invalid'));
});

describe('fuzzy search', () => {
  it('prefers whole matches and word beginnings', () => {
    expect(fuzzy('loss', 'val/loss')).toBeGreaterThan(fuzzy('loss', 'lots_of_small_steps'));
    expect(fuzzy('tl', 'train/loss')).toBeGreaterThan(0);
    expect(fuzzy('zz', 'train/loss')).toBe(0);
  });
});
