import { expect, it } from 'vitest';
import { percent } from '../../base/numbers/format';
import { makeAxis, projectionOf, ticksOf } from './scale';

const texts = (kind: 'linear' | 'log', from: number, to: number) =>
  ticksOf(makeAxis(projectionOf(kind, null), [from, to], 0, 100), 4, 'percent').map(({ v, text }) =>
    `${Number(v.toPrecision(6))}=${text}`.replace('\u202f', ' '),
  );

it('shares of one are even hundredths on an axis in percent', () => {
  expect(texts('linear', 0.1, 0.32)).toEqual(['0.1=10 %', '0.15=15 %', '0.2=20 %', '0.25=25 %', '0.3=30 %']);
  expect(texts('linear', 0, 0.004)).toEqual(['0=0.0 %', '0.001=0.1 %', '0.002=0.2 %', '0.003=0.3 %', '0.004=0.4 %']);
  expect(texts('log', 0.001, 1)).toContain('0.01=1 %');
});
it('a share of one is written in percent, and what is no number as it is', () => {
  expect([0.123, 1, 0.07, NaN].map((v) => percent(v).replace('\u202f', ' '))).toEqual([
    '12.30 %',
    '100 %',
    '7 %',
    'NaN',
  ]);
});
