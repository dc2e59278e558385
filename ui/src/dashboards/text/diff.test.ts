import { describe, expect, it } from 'vitest';
import { difference, sideOf } from './diff';

const join = (pieces: readonly { text: string }[]) => pieces.map(({ text }) => text).join('');
const short = (a: string, b: string) =>
  difference(a, b)
    .pieces.map(({ kind, text }) => ({ same: '', added: '+', removed: '-' })[kind] + text)
    .join('|');

describe('difference', () => {
  it('is by words, removed before added', () => {
    expect(short('The keeper wrote down.', 'The keeper never wrote it down.')).toBe(
      'The keeper |+never |wrote|+ it| down.',
    );
    expect(short('one two three', 'one 2 three')).toBe('one |-two|+2| three');
    expect(short('灯塔很高', '灯塔不高')).toBe('灯塔|-很|+不|高');
    expect(short('same', 'same')).toBe('same');
    expect(short('', 'new text')).toBe('+new text');
    expect(short('old', '')).toBe('-old');
    expect(difference('', '').pieces).toEqual([]);
  });
  it('counts words', () => {
    expect(difference('a b c d', 'a x c')).toMatchObject({ added: 1, removed: 2, same: 2, by: 'words' });
  });
  it('gives both texts back, whatever they are', () => {
    let seed = 7;
    const next = (n: number) => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return Math.floor((seed / 2 ** 32) * n);
    };
    const words = ['a', 'bb', ' ', '\n', 'ccc', '.', '灯', '𝒳', '  '];
    for (let round = 0; round < 400; round++) {
      const make = () => Array.from({ length: next(30) }, () => words[next(words.length)]).join('');
      const [a, b] = [make(), make()];
      const { pieces } = difference(a, b);
      expect(join(sideOf(pieces, 'removed'))).toBe(a);
      expect(join(sideOf(pieces, 'added'))).toBe(b);
    }
  });
  it('of long and quite different texts is by lines, or whole, and still right', () => {
    const line = (i: number) => `line ${i} with a few words\n`;
    const a = Array.from({ length: 20_000 }, (_, i) => line(i)).join('');
    const b = a.replace(line(777), 'another line\n').replace(line(15_000), '');
    const lines = difference(a, b);
    expect(lines.by).not.toBe('whole');
    expect(join(sideOf(lines.pieces, 'added'))).toBe(b);
    const far = Array.from({ length: 60_000 }, (_, i) => String((i * 7919) % 10007)).join('\n');
    const other = Array.from({ length: 60_000 }, (_, i) => String((i * 104729) % 10009)).join('\n');
    const whole = difference(far, other);
    expect(whole.by).toBe('whole');
    expect(join(sideOf(whole.pieces, 'removed'))).toBe(far);
  });
});
