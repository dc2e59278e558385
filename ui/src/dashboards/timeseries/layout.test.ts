import { describe, expect, it } from 'vitest';
import { CARD, GAP, HEADER, inSight, layOut, perRow, WIDE_CARD } from './layout';

const section = (key: string, n: number, open = true) => ({ key, title: key, tags: Array.from({ length: n }, (_, i) => `${key}/${i}`), open });

describe('cards', () => {
  it('fill the width', () => {
    const { placed, height } = layOut([section('a', 5)], 1000, 3, new Set());
    const cards = placed[0].cards;
    expect(cards.map((c) => c.top)).toEqual([HEADER, HEADER, HEADER, HEADER + CARD + GAP, HEADER + CARD + GAP]);
    expect(cards[2].left + cards[2].width).toBeCloseTo(1000);
    expect(height).toBe(HEADER + 2 * (CARD + GAP) + GAP);
  });
  it('of full width have a row of their own', () => {
    const { placed } = layOut([section('a', 3)], 1000, 3, new Set(['a/1']));
    expect(placed[0].cards.map((c) => [c.left > 0, c.height])).toEqual([[false, CARD], [false, WIDE_CARD], [false, CARD]]);
  });
  it('of a closed section are not there', () => expect(layOut([section('a', 9, false)], 1000, 3, new Set()).placed[0].cards).toEqual([]));
  it('exist only in sight: ten thousand cost as many as fit', () => {
    const { placed } = layOut([section('a', 10000)], 1000, 3, new Set());
    expect(inSight(placed, 50000, 50900)[0].cards.length).toBeLessThanOrEqual(15);
  });
  it('are as many in a row as asked for, if they fit', () => {
    expect([perRow(1100, 0), perRow(1100, 5), perRow(300, 6), perRow(100, 0)]).toEqual([3, 5, 1, 1]);
  });
});
