import { expect, it } from 'vitest';
import { byLikeliness } from './epochs';

it('what counts how far a training is comes first as x', () => {
  expect(byLikeliness(['acc', 'train/epoch', 'epochal', 'tokens_seen', 'loss'])).toEqual([
    'train/epoch',
    'tokens_seen',
    'acc',
    'epochal',
    'loss',
  ]);
});
