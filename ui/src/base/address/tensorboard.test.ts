import { describe, expect, it } from 'vitest';
import { parseHash } from './hash';
import { fromTensorBoard, withoutTensorBoard } from './tensorboard';
import { themeOf } from './tensorboard.keys';

describe("TensorBoard's links", () => {
  it('bring smoothing, filters, pins and colours from the query', () => {
    const query = new URLSearchParams({
      smoothing: '0.9',
      tagFilter: 'loss',
      runFilter: 'vit',
      runColorGroup: 'regex:(seed\\d)',
      pinnedCards: JSON.stringify([
        { plugin: 'scalars', tag: 'val/loss' },
        { plugin: 'images', tag: 'x', runId: 'exp/r', sample: 0 },
      ]),
    });
    expect(Object.fromEntries(fromTensorBoard(query, parseHash('#timeseries')))).toEqual({
      smooth: '0.9',
      tags: 'loss',
      runs: 'vit',
      group: 'regex:(seed\\d)',
      colour: 'group',
      pins: 'val/loss,!images!r!0!x',
    });
  });
  it('bring the state of the old dashboards from the hash', () => {
    const state = btoa(JSON.stringify({ 'a/b': false, c: true }));
    const hash = parseHash(`#scalars&_smoothingWeight=0.3&regexInput=x&runSelectionState=${encodeURIComponent(state)}`);
    expect(Object.fromEntries(fromTensorBoard(new URLSearchParams(), hash))).toEqual({
      smooth: '0.3',
      runs: 'x',
      hide: 'a/b',
    });
  });
  it('colour by an expression, also by that of an experiment', () => {
    const of = (group: string) =>
      Object.fromEntries(fromTensorBoard(new URLSearchParams({ runColorGroup: group }), parseHash('')));
    expect(of('regex_by_exp:(lr)')).toEqual({ group: 'regex:(lr)', colour: 'group' });
    expect(of('run')).toEqual({});
    expect(of('experiment')).toEqual({});
    expect(of('regex:')).toEqual({});
  });
  it('name runs in any script', () => {
    const bytes = new TextEncoder().encode(JSON.stringify({ '训练/一': false }));
    const hash = parseHash(`#scalars&runSelectionState=${encodeURIComponent(btoa(String.fromCharCode(...bytes)))}`);
    expect(fromTensorBoard(new URLSearchParams(), hash).get('hide')).toBe('训练/一');
    const latin = parseHash(`#scalars&runSelectionState=${encodeURIComponent(btoa('{"é": false}'))}`);
    expect(fromTensorBoard(new URLSearchParams(), latin).get('hide')).toBe('é');
  });
  it('lose only what became part of the view, the rest of the query stays letter by letter', () => {
    expect(withoutTensorBoard('?a&smoothing=0.3&b=%7e+x&tagFilter=y&darkMode=true&forceSVG')).toBe(
      '?a&b=%7e+x&darkMode=true&forceSVG',
    );
    expect(withoutTensorBoard('?smoothing=0.3')).toBe('');
    expect(withoutTensorBoard('')).toBe('');
  });
  it('can want a theme', () => {
    expect([themeOf('?darkMode=true'), themeOf('?darkMode=false'), themeOf('?darkMode'), themeOf('')]).toEqual([
      'dark',
      'light',
      '',
      '',
    ]);
  });
  it('are read as far as they go when cut off', () => {
    expect(fromTensorBoard(new URLSearchParams('pinnedCards=[{&smoothing=0.5'), parseHash('')).get('smooth')).toBe(
      '0.5',
    );
  });
});
