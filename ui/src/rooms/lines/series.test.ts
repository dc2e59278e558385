import { describe, expect, it } from 'vitest';
import { envelopeOf, smoothingAsk, strokesOf } from './series';

const f = (...v: number[]) => Float64Array.from(v);

describe('the envelope of a line', () => {
  it('is the least and the greatest of each pixel', () => {
    const e = envelopeOf(f(0, 1, 2, 10, 11, 20), f(5, 1, 9, 4, 3, 7), Uint8Array.from([0, 2, 4, 4, 2, 6]));
    expect([[...(e?.x ?? [])], [...(e?.low ?? [])], [...(e?.high ?? [])]]).toEqual([
      [1, 10, 20],
      [1, 3, 7],
      [9, 4, 7],
    ]);
  });
  it('is none where pixels are not marked', () => {
    expect(envelopeOf(f(0, 1), f(1, 2), null)).toBeNull();
    expect(envelopeOf(f(0, 1), f(1, 2), Uint8Array.from([0, 0]))).toBeNull();
  });
});

it('strokes begin where steps go back', () => {
  expect(strokesOf(f(0, 1, 2, 2, 1, 5, 3))).toEqual([0, 4, 6]);
  expect(strokesOf(f())).toEqual([0]);
});

it('windows look back as far as an average of the same weight', () => {
  expect(smoothingAsk('median', 0.9)).toEqual({ kind: 'median', points: 19 });
  expect(smoothingAsk('ema', 0.6)).toEqual({ kind: 'ema', weight: 0.6 });
  expect(smoothingAsk('gaussian', 0)).toEqual({ kind: 'none' });
});
