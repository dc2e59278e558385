import { describe, expect, it } from 'vitest';
import { cardKey, cardOf, type CardId } from './card';

describe('which card', () => {
  it('comes back from its text, whatever the names are', () => {
    const ids: CardId[] = [
      { plugin: 'scalars', tags: ['val/loss'] },
      { plugin: 'scalars', tags: ['a', 'b,c'] },
      { plugin: 'scalars', tags: ['!odd'] },
      { plugin: 'scalars', tags: ['a\u001fb'] },
      { plugin: 'scalars', tags: [''] },
      { plugin: 'text', tags: ['samples/a!b\\c'], run: 'lora!1' },
      { plugin: 'images', tags: ['x'], run: '.', sample: 3 },
      { plugin: 'images', tags: ['x'], sample: 0 },
    ];
    for (const id of ids) expect(cardOf(cardKey(id))).toEqual(id);
    expect(new Set(ids.map(cardKey)).size).toBe(ids.length);
  });
  it('is the bare tag for scalars, as in old links', () => {
    expect(cardKey({ plugin: 'scalars', tags: ['val/loss'] })).toBe('val/loss');
    expect(cardOf('a\u001fb')).toEqual({ plugin: 'scalars', tags: ['a', 'b'] });
  });
  it('is readable for others', () => expect(cardKey({ plugin: 'text', tags: ['a/b'], run: 'r' })).toBe('!text!r!!a/b'));
});
