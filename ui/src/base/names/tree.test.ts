import { describe, expect, it } from 'vitest';
import { covers, excluding, including } from './shown';
import { rowsOf, treeOf } from './tree';
import { passes, readWhere, writeWhere, type ColumnFilter } from '../address/where';

const rank = (...order: number[]) => Float64Array.from(order);
const text = (names: string[], ranks: number[], shut: string[] = []) =>
  rowsOf(treeOf(names), rank(...ranks), (key) => !shut.includes(key)).map(
    (row) =>
      `${'  '.repeat(row.level - 1)}${row.node.label}${row.node.leaf < 0 ? `/ ${row.members.length}${row.whole ? '' : ' of more'}` : ''}`,
  );

describe('the tree of names', () => {
  it('nests folders and merges those with one thing in them', () => {
    expect(text(['a/b/x', 'a/b/y', 'c/d/e', 'f'], [0, 1, 2, 3])).toEqual(['a/b/ 2', '  x', '  y', 'c/d/e', 'f']);
    expect(text(['a/x', 'a/b/y', 'a/b/z'], [0, 1, 2])).toEqual(['a/ 3', '  x', '  b/ 2', '    y', '    z']);
  });
  it('keeps a run apart from the folder of its name', () => {
    expect(text(['a', 'a/x', 'a/y'], [0, 1, 2])).toEqual(['a', 'a/ 2', '  x', '  y']);
  });
  it('lists only what has a rank, with its folders, and keeps its shape', () => {
    expect(text(['a/x', 'a/y', 'b/z', 'b/w'], [-1, 0, -1, -1])).toEqual(['a/ 1 of more', '  y']);
  });
  it('orders folders by their first', () => {
    expect(text(['a/x', 'a/y', 'b/z', 'b/w'], [3, 2, 1, 0])).toEqual(['b/ 2', '  w', '  z', 'a/ 2', '  y', '  x']);
  });
  it('folds', () => expect(text(['a/x', 'a/y', 'b'], [0, 1, 2], ['a/'])).toEqual(['a/ 2', 'b']));
  it('takes odd names', () => {
    const names = ['', '.', '/', 'a//b', 'a//c', '/x', 'a'.repeat(5) + '/'.repeat(2000)];
    expect(
      rowsOf(treeOf(names), rank(...names.map((_, i) => i)), () => true).filter((row) => row.node.leaf >= 0),
    ).toHaveLength(names.length);
  });
});

describe('sets with folders', () => {
  it('cover what is beneath', () => {
    const set = new Set(['a/b/', 'c']);
    expect(['a/b/x', 'a/b/y/z', 'a/bx', 'c', 'c/d', 'a/b'].map((name) => covers(set, name))).toEqual([
      true,
      true,
      false,
      true,
      false,
      false,
    ]);
  });
  it('put a folder in the place of its names', () =>
    expect([...including(new Set(['a/x', 'b']), ['a/'])]).toEqual(['b', 'a/']));
  it('take a folder apart for one of its names', () => {
    expect([...excluding(new Set(['a/', 'b']), ['a/x'], ['a/x', 'a/y', 'a/z', 'b', 'c'])]).toEqual(['b', 'a/y', 'a/z']);
  });
  it('take a folder out of a folder', () => {
    expect([...excluding(new Set(['a/', 'q']), ['a/b/'], ['a/b/x', 'a/b/y', 'a/z', 'q'])]).toEqual(['q', 'a/z']);
  });
});

describe('filters of columns', () => {
  const filter = (f: Partial<ColumnFilter>): ColumnFilter => ({ values: null, range: null, blank: true, ...f });
  it('come back from the address as they went', () => {
    const where = new Map([
      ['h:lr', filter({ range: [1e-5, 0.5], blank: false })],
      ['h:opt,x', filter({ values: new Set(['ad,am', 's\\gd', '']) })],
      ['h:none', filter({ values: new Set() })],
    ]);
    expect([...readWhere(writeWhere(where))]).toEqual([...where]);
  });
  it('are nothing when they are nonsense', () => expect([...readWhere('x,,,a\\,\\,b~\\,,h:lr\\,\\,5~1')]).toEqual([]));
  it('let numbers in an interval, chosen values and, if wanted, blanks pass', () => {
    expect([0.1, 0.5, 0.6, NaN, 'x', null].map((v) => passes(filter({ range: [0.1, 0.5] }), v))).toEqual([
      true,
      true,
      false,
      false,
      false,
      true,
    ]);
    expect(['a', 'b', 3, null].map((v) => passes(filter({ values: new Set(['a', '3']), blank: false }), v))).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
});
