import { describe, expect, it, vi } from 'vitest';

vi.mock('../../public', async () => await vi.importActual<object>('../../base/natural'));
const { cardsOf, joinTags, SEPARATOR, tagsOf, titleOf } = await import('./combined');

describe('several tags in one card', () => {
  it('stand where the first of them would, each tag once', () => {
    expect(
      cardsOf(
        ['a', 'b', 'c', 'd'],
        [
          ['b', 'd'],
          ['a', 'd'],
          ['c', 'gone'],
        ],
      ),
    ).toEqual(['a', joinTags(['b', 'd']), 'c']);
  });
  it('are known by one string, which a strange tag does not break', () => {
    const strange = `x${SEPARATOR}y`;
    expect(tagsOf(joinTags(['a', 'b']), () => false)).toEqual(['a', 'b']);
    expect(tagsOf(strange, (name) => name === strange)).toEqual([strange]);
    expect(joinTags(['a', 'a', 'b'])).toBe(`a${SEPARATOR}b`);
  });
  it('have a title that says what they share', () => {
    expect(titleOf(['train/loss', 'val/loss'])).toEqual(['train + val/', 'loss']);
    expect(titleOf(['loss', 'val_loss'])).toEqual(['', 'loss + val_loss']);
    expect(titleOf(['a/b'])).toEqual(['a/', 'b']);
  });
});
