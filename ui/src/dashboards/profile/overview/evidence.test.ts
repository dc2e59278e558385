import { expect, it } from 'vitest';
import { textIn } from './evidence';

const named = (...names: string[]) => names.map((name) => ({ name }));

it('the text of the advice finds its slices, whatever their case', () => {
  expect(textIn('reduce', named('nccl:AllReduce', 'nccl:ReduceScatter'))).toBe('reduce');
  expect(textIn('reduce', [])).toBe('reduce');
});
it('slices that the text is not in are found by the name that they share', () => {
  expect(textIn('DataLoader', named('IteratorGetNext', 'IteratorGetNext'))).toBe('IteratorGetNext');
});
it('slices that share no text are not looked for', () => {
  expect(textIn('Launch', named('gemm', 'relu'))).toBe('');
});
