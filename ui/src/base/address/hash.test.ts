import { describe, expect, it } from 'vitest';
import { formatHash, joinList, parseHash, splitList } from './hash';

describe('addresses', () => {
  it('come back as they went', () => {
    const values = new Map([
      ['runs', 'a&b=c'],
      ['tags', '^val/(loss|acc)$'],
      ['名', '值 +%'],
    ]);
    expect(parseHash(formatHash({ tab: 'timeseries', values }))).toEqual({ tab: 'timeseries', values });
  });
  it('keep lists of any names', () => {
    for (const list of [[], ['a'], ['a,b', 'c\\', ',', '中/文']]) expect(splitList(joinList(list))).toEqual(list);
  });
  it('survive broken escapes', () => expect(parseHash('#scalars&tags=%E0%A4%A').values.get('tags')).toBe('%E0%A4%A'));
});
