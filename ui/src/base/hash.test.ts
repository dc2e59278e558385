import { describe, expect, it } from 'vitest';
import { formatHash, fromTensorBoard, joinList, parseHash, splitList } from './hash';

describe('addresses', () => {
  it('come back as they went', () => {
    const values = new Map([['runs', 'a&b=c'], ['tags', '^val/(loss|acc)$'], ['名', '值 +%']]);
    expect(parseHash(formatHash({ tab: 'timeseries', values }))).toEqual({ tab: 'timeseries', values });
  });
  it('keep lists of any names', () => {
    for (const list of [[], ['a'], ['a,b', 'c\\', ',', '中/文']]) expect(splitList(joinList(list))).toEqual(list);
  });
  it('survive broken escapes', () => expect(parseHash('#scalars&tags=%E0%A4%A').values.get('tags')).toBe('%E0%A4%A'));
});

describe("TensorBoard's links", () => {
  it('bring smoothing, filters, pins and colours from the query', () => {
    const query = new URLSearchParams({
      smoothing: '0.9',
      tagFilter: 'loss',
      runFilter: 'vit',
      runColorGroup: 'regex:(seed\\d)',
      pinnedCards: JSON.stringify([{ plugin: 'scalars', tag: 'val/loss' }, { plugin: 'images', tag: 'x', runId: 'r', sample: 0 }]),
    });
    expect(Object.fromEntries(fromTensorBoard(query, parseHash('#timeseries')))).toEqual({
      smooth: '0.9', tags: 'loss', runs: 'vit', group: 'regex:(seed\\d)', colour: 'group', pins: 'val/loss',
    });
  });
  it('bring the state of the old dashboards from the hash', () => {
    const state = btoa(JSON.stringify({ 'a/b': false, c: true }));
    const hash = parseHash(`#scalars&_smoothingWeight=0.3&regexInput=x&runSelectionState=${encodeURIComponent(state)}`);
    expect(Object.fromEntries(fromTensorBoard(new URLSearchParams(), hash))).toEqual({ smooth: '0.3', runs: 'x', hide: 'a/b' });
  });
  it('are read as far as they go when cut off', () => {
    expect(fromTensorBoard(new URLSearchParams('pinnedCards=[{&smoothing=0.5'), parseHash('')).get('smooth')).toBe('0.5');
  });
});
