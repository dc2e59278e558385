import { beforeEach, describe, expect, it, vi } from 'vitest';

vi.mock('../../public', async () => {
  const { View } = await vi.importActual<typeof import('../../app/view/view.svelte')>('../../app/view/view.svelte');
  const fields = await vi.importActual<typeof import('../../base/address/fields')>('../../base/address/fields');
  return {
    ...fields,
    ...(await vi.importActual<object>('../../base/address/hash')),
    ...(await vi.importActual<object>('../../base/address/place')),
    ...(await vi.importActual<object>('../../base/address/axis')),
    fields,
    view: new View(),
    keep: () => undefined,
  };
});
const { view } = await import('../../public');
const { cardView } = await import('../../rooms/card/card.svelte');
const { steps } = await import('../../rooms/steps/steps.svelte');
const { grid, ts } = await import('./view.svelte');

describe('the view of time series', () => {
  beforeEach(() => view.decode('#timeseries'));

  it('is its address: all of it comes back', () => {
    steps.setX('relative');
    ts.smoothing = 0.95;
    ts.smoothKind = 'median';
    ts.outliers = false;
    ts.bands = 'ci95';
    ts.center = 'median';
    ts.compare = 'ratio';
    ts.envelope = ts.attempts = ts.partition = true;
    ts.combined = ['a,b\u001fc'];
    ts.rightAxis = new Set(['a,b\u001fc']);
    ts.revealed = new Set(['vit/b']);
    ts.cardSmoothing = new Map([['a|b,c', { kind: 'gaussian', weight: 0.25 }]]);
    cardView.pins = ['val/loss', 'a,b', '!text!r!!x'];
    cardView.full = 'val/loss';
    ts.yScale = new Map([
      ['val/loss', 'log'],
      ['a,b', 'symlog'],
    ]);
    ts.percent = new Set(['val/acc']);
    ts.zoomLinked = true;
    ts.zoom = new Map([
      ['val/loss', { x: [10, 2000.5], y: null }],
      ['a|b,c', { x: [-1, 1], y: [0.25, 1e-3 + 1] }],
    ]);
    grid.emptyCards = true;
    grid.pages = new Map([['/a,b', 3]]);
    grid.perRow = 4;
    steps.selecting = 'range';
    steps.set('', { from: 10, to: 20 });
    steps.set('val/loss', null);
    ts.tableSort = '-max';
    ts.tall = new Set(['val/loss']);
    const address = view.encode();
    const { zoom, yScale, cardSmoothing } = ts;
    view.decode('#timeseries');
    expect(view.encode()).toBe('#timeseries&v=1');
    view.decode(address);
    expect(view.encode()).toBe(address);
    expect([[...ts.zoom], [...ts.yScale], [...ts.cardSmoothing]]).toEqual([[...zoom], [...yScale], [...cardSmoothing]]);
    expect([ts.zoomLinked, ts.commonX, [...ts.percent]]).toEqual([true, null, ['val/acc']]);
    expect(cardView.pins).toEqual(['val/loss', 'a,b', '!text!r!!x']);
    expect([steps.placeOf('x'), steps.placeOf('val/loss')]).toEqual([{ from: 10, to: 20 }, null]);
    expect(grid.pages.get('/a,b')).toBe(3);
  });

  it('opens links from before its fields had a prefix', () => {
    view.decode('#timeseries&smooth=0.9&filter=median&bands=std&zoom=1~2||a&row=3&closed=/train&pins=a&select=step');
    expect([ts.smoothing, ts.smoothKind, ts.bands, grid.perRow, steps.selecting]).toEqual([
      0.9,
      'median',
      'std',
      3,
      'step',
    ]);
    expect([ts.zoomXOf('a'), [...grid.closed], cardView.pins]).toEqual([[1, 2], ['/train'], ['a']]);
    expect(view.encode()).toContain('ts.smooth=0.9');
  });

  it('opens links that have a log scale on y from before there were others', () => {
    view.decode('#timeseries&logy=val/loss,x');
    expect([ts.scaleOf('val/loss'), ts.scaleOf('x'), ts.scaleOf('y')]).toEqual(['log', 'log', 'linear']);
    expect(view.encode()).toBe('#timeseries&ts.logy=val/loss,x');
  });

  it('takes nonsense as nothing', () => {
    view.decode('#timeseries&x=moon&ts.smooth=abc&zoom=1~0||t&row=x');
    expect(view.encode()).toBe('#timeseries&v=1');
  });

  it('moves pins among those of one dashboard only', () => {
    cardView.pins = ['a', '!text!r!!x', 'b'];
    cardView.movePin('b', 0, ['a', 'b']);
    expect(cardView.pins).toEqual(['b', '!text!r!!x', 'a']);
  });
});
