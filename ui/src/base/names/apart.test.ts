import { describe, expect, it } from 'vitest';
import { abridge, lastWords, tellApart } from './apart';

const labels = (names: string[], room?: number) => [...tellApart(names, room).values()];

describe('short names', () => {
  it('leave out what all share at the ends and between', () => {
    expect(labels(['adam-lr1e3-s1/validation', 'adam-lr1e3-s2/validation'])).toEqual(['…s1…', '…s2…']);
    expect(labels(['adam-lr3-bs32-wd1-seed1', 'adam-lr4-bs32-wd1-seed1', 'adam-lr4-bs32-wd1-seed2'])).toEqual([
      '…lr3-…seed1',
      '…lr4-…seed1',
      '…lr4-…seed2',
    ]);
  });
  it('keep their last words where they are cut', () => {
    expect(lastWords('adam-lr0.001-seed1/validation')).toEqual(['adam-lr0.001-', 'seed1/validation']);
    expect(lastWords('run')).toEqual(['', 'run']);
    expect(lastWords('averyveryverylongword')).toEqual(['averyveryverylongword', '']);
  });
  it('keep numbers whole', () =>
    expect(labels(['rate=0.003, opt=adam · train', 'rate=0.03, opt=adam · train'])).toEqual(['…0.003…', '…0.03…']));
  it('keep the values of groups where names are longer than their room', () =>
    expect(labels(['lr=0.001, opt=adam', 'lr=0.01, opt=adam', 'lr=0.001, opt=sgd'], 16)).toEqual([
      'lr=0.001, …adam',
      'lr=0.01, …adam',
      'lr=0.001, …sgd',
    ]));
  it('keep every difference, however many words the names have', () => {
    expect(labels(['sweep/a', 'sweep/a/validation', 'sweep/b'])).toEqual(['…a', '…a/validation', '…b']);
    expect(labels(['run', 'run/eval'])).toEqual(['run', 'run/eval']);
    expect(labels(['a-1', 'a_1'])).toEqual(['a-1', 'a_1']);
  });
  it('leave out what is shared in the middle, also where some names end earlier', () =>
    expect(labels(['rate=0.03, opt=adam', 'rate=0.03, opt=adam · train', 'rate=0.3, opt=sgd · train'])).toEqual([
      '…0.03, …adam',
      '…0.03, …adam · train',
      '…0.3, …sgd · train',
    ]));
  it('stay as they are where there is room, and where there is but one', () => {
    expect(labels(['vit-b16/seed1', 'vit-b16/seed2'], 20)).toEqual(['vit-b16/seed1', 'vit-b16/seed2']);
    expect(labels(['a-long-name-of-a-run'])).toEqual(['a-long-name-of-a-run']);
    expect(labels([])).toEqual([]);
  });
  it('are cut in the middle where there is no room, and keep what differs', () => {
    const names = ['resnet50-imagenet-lr0.001-wd0.1-bs256', 'resnet50-imagenet-lr0.003-wd0.1-bs256', 'vit-b16-cifar'];
    expect([...tellApart(names, 16, 16).values()]).toEqual(['…lr0.001…', '…lr0.003…', 'vit-b16-cifar']);
    expect([...tellApart(['averyveryverylongword1', 'anotherverylongword'], 9, 9).values()]).toEqual([
      'aver…ord1',
      'anot…word',
    ]);
    expect([...tellApart(['abcdefgh', 'abcxefgh'], 3, 3).values()]).toEqual(['a…h', 'a…h']);
    expect([...tellApart(['run1', 'run2'], 9, 9).values()]).toEqual(['run1', 'run2']);
  });
  it('cut long words in a narrow list, never what differs', () => {
    const names = ['adam-lr0.01', 'adam-lr0.1', 'sgd-lr0.1'].flatMap((x) => [
      `demo/${x}-s1`,
      `demo/${x}-s1/validation`,
    ]);
    expect([...abridge(names, 16).values()]).toEqual([
      'adam-lr0.01-s1',
      'adam-lr0.01-s1/val…',
      'adam-lr0.1-s1',
      'adam-lr0.1-s1/val…',
      'sgd-lr0.1-s1',
      'sgd-lr0.1-s1/val…',
    ]);
    expect([...abridge(names, 40).values()]).toEqual(names);
    expect([...abridge(['first/validation', 'first/validity', 'second/validation'], 8).values()]).toEqual([
      'first/validation',
      'first/validity',
      'sec…/val…',
    ]);
    expect([...abridge(['resnet50x/experiment', 'resnet101x/experiment'], 4).values()]).toEqual([
      'resnet50x',
      'resnet101x',
    ]);
  });
  it('have no marks at their ends in a list: all names there share what is left out', () => {
    const seeds = [1, 2, 3].map((seed) => `vit-b16-imagenet-lr0.003-seed${seed}-augmented-final`);
    expect([...abridge(seeds, 16).values()]).toEqual(['seed1', 'seed2', 'seed3']);
    const rates = seeds.flatMap((name) => [name, name.replace('lr0.003', 'lr0.03')]);
    expect([...abridge(rates, 16).values()].slice(0, 2)).toEqual(['lr0.003-seed1', 'lr0.03-seed1']);
    expect([...abridge(['…a long name of a run', '…a long name of one'], 4).values()][0]).not.toBe('');
  });
  it('are told apart among those that begin alike, in a list that has others too', () => {
    const names = ['imagenet', 'places'].flatMap((set) =>
      [1, 2].map((seed) => `vit-b16-${set}-lr0.003-seed${seed}-final`),
    );
    expect([...abridge([...names, 'keras_baseline', '实验一/基线模型'], 16).values()]).toEqual([
      'imagenet-…seed1',
      'imagenet-…seed2',
      'places-…seed1',
      'places-…seed2',
      'keras_baseline',
      '实验一/基线模型',
    ]);
    const alike = ['adam', 'sgd'].flatMap((one) => [1, 2, 3].map((seed) => `${one}-with-a-long-name-seed${seed}`));
    expect(new Set(abridge([...alike, 'other'], 8).values()).size).toBe(7);
  });
  it('differ where the names do, for names of every sort', () => {
    const words = ['a', 'b', 'lr', '1', '2', 'x-y', 'train', ''];
    let s = 7;
    const next = (n: number) => (s = (s * 1103515245 + 12345) % 2147483648) % n;
    for (let round = 0; round < 500; round++) {
      const names = Array.from({ length: 1 + next(6) }, () =>
        Array.from({ length: 1 + next(5) }, () => words[next(words.length)]).join('-/_. '[next(5)]),
      );
      const map = tellApart(names);
      expect(new Set(map.values()).size).toBe(new Set(names).size);
      expect(new Set(abridge(names, next(20)).values()).size).toBe(new Set(names).size);
    }
  });
});
