import { describe, expect, it } from 'vitest';
import { View } from './view.svelte';

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
    a.tagFilter = 'loss|acc';
    a.x = 'relative';
    a.smoothing = 0.95;
    a.smoothKind = 'median';
    a.outliers = false;
    a.bands = 'ci95';
    a.center = 'median';
    a.baseline = 'vit/seed1';
    a.compare = 'ratio';
    a.envelope = a.pair = a.attempts = a.partition = true;
    a.combined = ['a,b\u001fc'];
    a.rightAxis = new Set(['a,b\u001fc']);
    a.revealed = new Set(['vit/b']);
    a.cardSmoothing = new Map([['a|b,c', { kind: 'gaussian', weight: 0.25 }]]);
    a.pins = ['val/loss', 'a,b'];
    a.yScale = new Map([
      ['val/loss', 'log'],
      ['a,b', 'symlog'],
    ]);
    a.percent = new Set(['val/acc']);
    a.zoomLinked = true;
    a.zoom = new Map([
      ['val/loss', { x: [10, 2000.5], y: null }],
      ['a|b,c', { x: [-1, 1], y: [0.25, 1e-3 + 1] }],
    ]);
    a.full = 'val/loss';
    a.emptyCards = true;
    a.pages = new Map([['/a,b', 3]]);
    a.perRow = 4;
    a.selecting = 'range';
    a.linked = true;
    a.places = new Map([
      ['', { from: 10, to: 20 }],
      ['val/loss', null],
    ]);
    a.tableSort = '-max';
    a.tall = new Set(['val/loss']);
    const b = new View();
    b.decode(a.encode());
    expect(b.encode()).toBe(a.encode());
    expect([...b.zoom]).toEqual([...a.zoom]);
    expect([...b.percent]).toEqual([...a.percent]);
    expect(b.zoomLinked).toBe(true);
    expect(b.commonX).toBeNull();
    expect([...b.hidden]).toEqual(['x/1', 'y,2']);
    expect(b.columns).toEqual(a.columns);
    expect([...b.cardSmoothing]).toEqual([...a.cardSmoothing]);
    expect([...b.yScale]).toEqual([...a.yScale]);
    expect([...b.where]).toEqual([...a.where]);
    expect([b.top, b.details, b.tableFull, b.isFolded('vit/'), b.isFolded('x/')]).toEqual([
      10,
      'vit/seed1',
      true,
      false,
      true,
    ]);
    expect([...b.places]).toEqual([...a.places]);
  });
  it('is short when nothing was changed, and still says something', () =>
    expect(new View().encode()).toBe('#timeseries&smooth=0.6'));
  it('takes tastes only when the address says nothing', () => {
    const tastes = new Map([
      ['smooth', '0.9'],
      ['pins', 'a'],
    ]);
    const bare = new View();
    bare.open({ hash: '', search: '?other=1' }, tastes);
    expect([bare.smoothing, bare.pins]).toEqual([0.9, ['a']]);
    for (const location of [
      { hash: '#timeseries&tags=loss', search: '' },
      { hash: '#scalars', search: '?tagFilter=loss' },
      { hash: new View().encode(), search: '' },
    ]) {
      const linked = new View();
      linked.open(location, tastes);
      expect([linked.smoothing, linked.pins]).toEqual([0.6, []]);
    }
  });
  it("knows TensorBoard's names of tabs", () => {
    const a = new View();
    for (const [hash, tab] of [
      ['#scalars', 'timeseries'],
      ['#distributions', 'histograms'],
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
  it('opens links that have a log scale on y from before there were others', () => {
    const a = new View();
    a.decode('#timeseries&logy=val/loss,x');
    expect([a.scaleOf('val/loss'), a.scaleOf('x'), a.scaleOf('y')]).toEqual(['log', 'log', 'linear']);
    expect(a.encode()).toBe('#timeseries&logy=val/loss,x');
  });
  it('takes nonsense as nothing', () => {
    const a = new View();
    a.decode('#timeseries&x=moon&smooth=abc&zoom=1~0||t&row=x&top=-3&where=,&folds=1&table=1');
    expect(a.encode()).toBe('#timeseries&smooth=0.6');
  });
  it("opens TensorBoard's links and takes their keys off", () => {
    const a = new View();
    const opened = a.open({ hash: '#scalars&_smoothingWeight=0.3', search: '?tagFilter=loss&darkMode=true' });
    expect(opened).toEqual({ hash: '#timeseries&tags=loss&smooth=0.3', search: '?darkMode=true' });
  });
  it('can be undone and redone', () => {
    const a = new View();
    a.note(a.encode());
    a.smoothing = 0.1;
    a.note(a.encode());
    expect(a.undo()).toBe(true);
    expect(a.smoothing).toBe(0.6);
    expect(a.redo()).toBe(true);
    expect(a.smoothing).toBe(0.1);
    expect(a.redo()).toBe(false);
  });
});
