import { describe, expect, it } from 'vitest';
import { mergeRuns, mergeTags } from './merge';
import type { Changes, Run, Tag } from './types';

const run = (id: number, points = 0) => ({ id, name: `r${id}`, points }) as Run;
const tag = (name: string, runs: Tag['runs'], plugin = 'scalars') => ({ tag: name, plugin, runs }) as Tag;
const news = (part: Partial<Changes>) =>
  ({ runs: [], gone: [], series: [], more: false, ...part }) as unknown as Changes;
const known =
  (...ids: number[]) =>
  (id: number) =>
    ids.includes(id);

describe('news for the lists', () => {
  it('changes, adds and removes runs', () => {
    const runs = mergeRuns([run(1), run(2)], news({ runs: [run(2, 9), run(3)], gone: [{ id: 1, name: 'r1' }] }));
    expect(runs).toEqual([run(2, 9), run(3)]);
  });
  it('leaves lists alone that nothing changed', () => {
    const [runs, tags] = [[run(1)], [tag('a', [1])]];
    const grown = news({ series: [[1, 'a', 5, 'scalars', false]] });
    expect(mergeRuns(runs, grown)).toBe(runs);
    expect(mergeTags(tags, grown, known(1)).tags).toBe(tags);
  });
  it('adds a run to a tag of the same plugin only', () => {
    const tags = [tag('a', [1]), tag('a', [1], 'images'), tag('b', 'all')];
    const began = news({
      series: [
        [2, 'a', 1, 'scalars', true],
        [2, 'b', 1, 'scalars', true],
      ],
    });
    const merged = mergeTags(tags, began, known(1, 2));
    expect(merged.tags.map((t) => t.runs)).toEqual([[1, 2], [1], 'all']);
    expect(merged.isComplete).toBe(true);
  });
  it('is not complete when a tag or a run is unknown, or when too much is new', () => {
    const tags = [tag('a', 'all')];
    expect(mergeTags(tags, news({ series: [[1, 'z', 1, 'scalars', true]] }), known(1)).isComplete).toBe(false);
    expect(mergeTags(tags, news({ runs: [run(2)] }), known(1)).isComplete).toBe(false);
    expect(mergeTags(tags, news({ more: true }), known(1)).isComplete).toBe(false);
    expect(mergeTags(tags, news({ runs: [run(1)] }), known(1)).isComplete).toBe(true);
  });
  it('drops a tag with its last run', () => {
    const merged = mergeTags([tag('a', [1]), tag('b', [1, 2])], news({ gone: [{ id: 1, name: 'r1' }] }), known(1, 2));
    expect(merged.tags).toEqual([tag('b', [2])]);
  });
});
