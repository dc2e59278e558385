import { describe, expect, it } from 'vitest';
import { combinedCards } from './combined';

describe('several tags in one card', () => {
  it('stand where the first of them would, each tag once', () => {
    expect(
      combinedCards(
        ['a', 'b', 'c', 'd'],
        [
          ['b', 'd'],
          ['a', 'd'],
          ['c', 'gone'],
        ],
      ),
    ).toEqual([['a'], ['b', 'd'], ['c']]);
  });
});
