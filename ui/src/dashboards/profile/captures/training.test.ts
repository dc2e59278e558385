import { describe, expect, it } from 'vitest';
import type { ProfileCapture, Run, Tag } from '../../../public';
import { dotsOf, metricsOf, runOf } from './training';

const run = (id: number, name: string) => ({ id, name }) as Run;
const tag = (name: string, runs: number[] | 'all' = 'all', plugin = 'scalars') => ({ tag: name, plugin, runs }) as Tag;
const capture = (of: string, time: number | null) => ({ run: of, time }) as ProfileCapture;

describe('captures on the line of training', () => {
  it('takes the run of the folder, else the nearest one that has scalars', () => {
    const runs = [run(1, '.'), run(2, 'vit'), run(3, 'vit/train'), run(4, 'other')];
    expect(runOf('vit/train', runs, [tag('loss')])?.id).toBe(3);
    expect(runOf('vit/train', runs, [tag('loss', [2, 4])])?.id).toBe(2);
    expect(runOf('vit', runs, [tag('loss', [3, 4])])?.id).toBe(3);
    expect(runOf('vit', runs, [tag('loss', [4])])).toBeUndefined();
  });

  it('offers scalars about speed first, then losses', () => {
    const tags = [tag('accuracy'), tag('loss'), tag('train/step_time_ms'), tag('pictures', 'all', 'images')];
    expect(metricsOf(run(1, 'a'), tags)).toEqual(['train/step_time_ms', 'loss', 'accuracy']);
  });

  it('puts a capture at the point that was written nearest to it', () => {
    const all = [capture('a', 12), capture('a', null), capture('b', 30), capture('a', 99)];
    expect(dotsOf(all, 'a', [10, 20, 30]).map(({ at }) => at)).toEqual([0, 2]);
    expect(dotsOf(all, 'a', [])).toEqual([]);
  });
});
