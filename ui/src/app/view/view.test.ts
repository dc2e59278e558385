import { describe, expect, it } from 'vitest';
import { choice, flag, taste, text, type Field } from '../../base/address/fields';
import { translated } from '../../base/address/tensorboard';
import { isTensorBoardLink } from '../../base/address/tensorboard.keys';
import { View } from './view.svelte';

/** A part as a dashboard adds it. */
class Part {
  mode = 'plain' as 'plain' | 'raw';
  isOn = false;
  note = '';
  readonly fields: Field[] = [
    choice('mode', this, 'mode', ['plain', 'raw']),
    taste(flag('on', this, 'isOn')),
    text('note', this, 'note'),
  ];
}

describe('the view', () => {
  it('is its address: all of it comes back', () => {
    const a = new View();
    a.runFilter = 'lr>0.01 and ^vit';
    a.hidden = new Set(['x/1', 'y,2']);
    a.group = 'regex:(seed)(\\d)';
    a.colour = 'group';
    a.sort = 'm:min:val/loss';
    a.descending = true;
    a.columns = ['m:min:val/loss', 'h:lr'];
    a.folded = new Set(['vit/']);
    a.allFolded = true;
    a.top = 10;
    a.where = new Map([['h:lr', { values: null, range: [1e-4, 0.1], blank: false }]]);
    a.details = 'vit/seed1';
    a.tableFull = true;
    a.baseline = 'vit/seed1';
    a.pair = true;
    const b = new View();
    b.decode(a.encode());
    expect(b.encode()).toBe(a.encode());
    expect([...b.hidden]).toEqual(['x/1', 'y,2']);
    expect(b.columns).toEqual(a.columns);
    expect([...b.where]).toEqual([...a.where]);
    expect([b.top, b.details, b.tableFull, b.pair, b.isFolded('vit/'), b.isFolded('x/')]).toEqual([
      10,
      'vit/seed1',
      true,
      true,
      false,
      true,
    ]);
  });
  it('is short when nothing was changed, and still says something', () =>
    expect(new View().encode()).toBe('#timeseries&v=1'));
  it('has the fields of a dashboard under its prefix', () => {
    const a = new View();
    const part = new Part();
    a.add('text', part.fields);
    part.mode = 'raw';
    expect(a.encode()).toBe('#timeseries&text.mode=raw');
    a.decode('#text&text.on=on&mode=raw');
    expect([part.mode, part.isOn]).toEqual(['plain', true]);
  });
  it('keeps what the address says of a dashboard that is not loaded yet, and gives it when it is', () => {
    const a = new View();
    a.decode('#text&text.mode=raw&runs=vit&note=old');
    expect(a.encode()).toBe('#text&note=old&runs=vit&text.mode=raw');
    const part = new Part();
    a.add('text', part.fields, true);
    expect([part.mode, part.note]).toEqual(['raw', 'old']);
    expect(a.encode()).toBe('#text&runs=vit&text.mode=raw&text.note=old');
  });
  it('sets one value by its key, also of a part that comes later', () => {
    const a = new View();
    a.set('tags', '^loss$');
    a.set('runs', 'vit');
    expect(a.runFilter).toBe('vit');
    const filter = { tags: '' };
    a.add('', [text('tags', filter, 'tags')]);
    expect(filter.tags).toBe('^loss$');
  });
  it('takes tastes only when the address says nothing', () => {
    const tastes = new Map([['text.on', 'on']]);
    const opened = (location: { hash: string; search: string }) => {
      const a = new View();
      const part = new Part();
      a.add('text', part.fields);
      a.open(location, tastes);
      return part.isOn;
    };
    expect(opened({ hash: '', search: '?other=1' })).toBe(true);
    expect(opened({ hash: '#timeseries&tags=loss', search: '' })).toBe(false);
    expect(opened(translated({ hash: '#scalars', search: '?tagFilter=loss' }))).toBe(false);
    expect(opened({ hash: new View().encode(), search: '' })).toBe(false);
  });
  it('knows which of its values are tastes', () => {
    const a = new View();
    a.add('text', new Part().fields);
    expect([a.isTaste('text.on'), a.isTaste('text.mode'), a.isTaste('ts.smooth')]).toEqual([true, false, undefined]);
  });
  it("knows TensorBoard's names of tabs", () => {
    const a = new View();
    for (const [hash, tab] of [
      ['', 'timeseries'],
      ['#scalars', 'timeseries'],
      ['#distributions', 'distributions'],
      ['#images&tagFilter=x', 'images'],
      ['#nonsense', 'nonsense'],
    ]) {
      a.decode(hash);
      expect(a.tab).toBe(tab);
    }
  });
  it('tells "no run" from "all runs"', () => {
    const a = new View();
    a.only = new Set();
    const b = new View();
    b.decode(a.encode());
    expect(b.only?.size).toBe(0);
  });
  it('takes nonsense as nothing', () => {
    const a = new View();
    a.decode('#timeseries&top=-3&where=,&folds=1&table=1');
    expect(a.encode()).toBe('#timeseries&v=1');
  });
  it("opens TensorBoard's links and takes their keys off", () => {
    const a = new View();
    const link = { hash: '#scalars&_smoothingWeight=0.3', search: '?tagFilter=loss&darkMode=true' };
    expect(isTensorBoardLink(link)).toBe(true);
    const opened = a.open(translated(link));
    expect(opened).toEqual({ hash: '#timeseries&smooth=0.3&tags=loss', search: '?darkMode=true' });
  });
  it('can be undone and redone', () => {
    const a = new View();
    a.note(a.encode());
    a.group = 'path';
    a.note(a.encode());
    expect(a.undo()).toBe(true);
    expect(a.group).toBe('');
    expect(a.redo()).toBe(true);
    expect(a.group).toBe('path');
    expect(a.redo()).toBe(false);
  });
  it('does not redo after a change that the address does not have yet', () => {
    const a = new View();
    a.note(a.encode());
    a.group = 'path';
    a.note(a.encode());
    a.undo();
    a.group = 'tree';
    expect(a.redo()).toBe(false);
    expect(a.group).toBe('tree');
    expect(a.undo()).toBe(true);
    expect(a.group).toBe('');
  });
});
