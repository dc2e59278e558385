import { describe, expect, it } from 'vitest';
import { moved } from '../../../base/columns';
import { nextSort, sortRows as sortBy } from '../../../rooms/table/sort';
import { notChosen, rawOf, shownColumns, valueOf, type Row } from './columns';

const sortRows = (
  rows: readonly Row[],
  sort: string,
  columns: readonly string[],
  byName: (a: string, b: string) => number,
) => sortBy(rows, sort, columns, valueOf, byName);

const point = (step: number, value: number, raw = value) => ({ step, wall: 1000 + step, value, raw });
const row = (name: string, start: number, end: number, lr?: number): Row => {
  const a = point(10, start, start + 1);
  const b = point(30, end, end + 5);
  const [min, max] = start < end ? [a, b] : [b, a];
  return {
    key: name,
    name,
    tag: '',
    colour: '#000',
    firstWall: 1000,
    edges: null,
    run: lr === undefined ? null : ({ hparams: { lr } } as unknown as Row['run']),
    stats: { start: a, end: b, line: { min, max, mean: (start + end) / 2 }, raw: { min, max, mean: 7 } },
  };
};

describe('the columns of a table', () => {
  it('say what the drawn line does, and the raw value apart', () => {
    const r = row('a', 4, 2, 0.1);
    const said = Object.fromEntries(
      [
        'run',
        'smoothed',
        'value',
        'step',
        'relative',
        'min',
        'max',
        'end',
        'change',
        'rawChange',
        'percent',
        'startStep',
        'endStep',
        'minStep',
        'maxStep',
        'mean',
        'h:lr',
        'h:none',
      ].map((id) => [id, valueOf(r, id)]),
    );
    expect(said).toEqual({
      run: 'a',
      smoothed: 4,
      value: 5,
      step: 10,
      relative: 10,
      min: 2,
      max: 4,
      end: 2,
      change: -2,
      rawChange: 2,
      percent: -0.5,
      startStep: 10,
      endStep: 30,
      minStep: 30,
      maxStep: 10,
      mean: 3,
      'h:lr': 0.1,
      'h:none': null,
    });
    expect([rawOf(r, 'mean'), rawOf(r, 'start'), rawOf(r, 'value')]).toEqual([7, 5, null]);
  });
  it('have no change in % from zero', () => expect(valueOf(row('a', 0, 2), 'percent')).toBeNull());
  it('sort both ways, with what is missing last', () => {
    const rows = [row('b', 1, 0), row('a', 3, 0), row('c', NaN, 0), { ...row('d', 0, 0), stats: null }];
    const names = (sort: string) =>
      sortRows(rows, sort, ['run', 'start'], (x, y) => (x < y ? -1 : 1))
        .map((r) => r.name)
        .join('');
    expect([names('start'), names('-start'), names('-run'), names(''), names('nonsense')]).toEqual([
      'bacd',
      'abcd',
      'dcba',
      'bacd',
      'bacd',
    ]);
  });
  it('go from up to down to unsorted', () =>
    expect([nextSort('', 'min'), nextSort('min', 'min'), nextSort('-min', 'min'), nextSort('max', 'min')]).toEqual([
      'min',
      '-min',
      '',
      'min',
    ]));
  it('are those that are known, and "smoothed" only when something is', () => {
    const chosen = ['run', 'nonsense', 'smoothed', 'value', 'h:lr'];
    expect(shownColumns('single', chosen, { smooth: false, bands: false })).toEqual(['run', 'value', 'h:lr']);
    expect(shownColumns('single', chosen, { smooth: true, bands: true })).toEqual([
      'run',
      'smoothed',
      'value',
      'low',
      'high',
      'h:lr',
    ]);
    expect(notChosen('single', ['run', 'h:lr', 'value'], ['lr', 'model'])).toEqual([
      'smoothed',
      'step',
      'relative',
      'h:model',
    ]);
  });
  it('move', () => {
    expect(moved(['a', 'b', 'c'], 'c', 0)).toEqual(['c', 'a', 'b']);
    expect(moved(['a', 'b', 'c'], 'a', 9)).toEqual(['b', 'c', 'a']);
    expect(moved(['a', 'b'], 'new', 1)).toEqual(['a', 'new', 'b']);
  });
});
