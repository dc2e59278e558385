import { describe, expect, it, vi } from 'vitest';
import { GAP, growth, HEADER, inSight, layOut, perRow, roomyColumns, spareHeight, type HeightOf } from './layout';

vi.mock('../../public', async () => await import('../../base/search'));

const CARD = 252;
const WIDE_CARD = 340;
const heightOf = (_: string, isWide: boolean) => (isWide ? WIDE_CARD : CARD);

const section = (key: string, n: number, open = true) => ({
  key,
  title: key,
  cards: Array.from({ length: n }, (_, i) => `${key}/${i}`),
  open,
  total: n,
  page: 1,
  pages: 1,
});

describe('cards', () => {
  it('fill the width', () => {
    const { placed, height } = layOut([section('a', 5)], 1000, 3, new Set(), heightOf);
    const cards = placed[0].cards;
    expect(cards.map((c) => c.top)).toEqual([HEADER, HEADER, HEADER, HEADER + CARD + GAP, HEADER + CARD + GAP]);
    expect(cards[2].left + cards[2].width).toBeCloseTo(1000);
    expect(cards[4].left + cards[4].width).toBeCloseTo(1000);
    expect(height).toBe(HEADER + 2 * (CARD + GAP) + GAP);
  });
  it('fill every row, however many there are: the last two rows share what is left', () => {
    const rows = (n: number, columns: number) => {
      const { cards } = layOut([section('a', n)], 1000, columns, new Set(), heightOf).placed[0];
      const tops = [...new Set(cards.map((c) => c.top))];
      for (const top of tops) {
        const row = cards.filter((c) => c.top === top);
        expect(row[0].left).toBe(0);
        expect(row.at(-1)!.left + row.at(-1)!.width).toBeCloseTo(1000);
      }
      return tops.map((top) => cards.filter((c) => c.top === top).length);
    };
    expect(rows(4, 3)).toEqual([2, 2]);
    expect(rows(7, 3)).toEqual([3, 2, 2]);
    expect(rows(8, 3)).toEqual([3, 3, 2]);
    expect(rows(9, 6)).toEqual([5, 4]);
    expect(rows(3, 2)).toEqual([2, 1]);
  });
  it('of full width have a row of their own', () => {
    const { placed } = layOut([section('a', 3)], 1000, 3, new Set(['a/1']), heightOf);
    expect(placed[0].cards.map((c) => [c.left > 0, c.height])).toEqual([
      [false, WIDE_CARD],
      [false, WIDE_CARD],
      [false, WIDE_CARD],
    ]);
  });
  it('of small sections share a row and fill it, in order', () => {
    const { placed, height } = layOut(
      [section('a', 1), section('b', 1), section('c', 2), section('d', 5), section('e', 1)],
      1200,
      3,
      new Set(),
      heightOf,
    );
    const ends = placed.map(({ section: { key }, left, width, top }) => [
      key,
      top,
      Math.round(left),
      Math.round(left + width),
    ]);
    const row = HEADER + CARD + GAP;
    expect(ends).toEqual([
      ['a', 0, 0, 594],
      ['b', 0, 606, 1200],
      ['c', row, 0, 1200],
      ['d', 2 * row, 0, 1200],
      ['e', 3 * row + CARD + GAP, 0, 1200],
    ]);
    expect(placed[4].cards[0].height).toBe(WIDE_CARD);
    expect(height).toBe(3 * row + CARD + GAP + HEADER + WIDE_CARD + GAP + GAP);
  });
  it('of shut sections leave heads, side by side', () => {
    const shut = Array.from({ length: 10 }, (_, i) => section(`s${i}`, 4, false));
    expect(layOut(shut, 1200, 3, new Set(), heightOf).height).toBe(4 * HEADER + GAP);
  });
  it('may take two columns, and go to the next row where there is one left', () => {
    const span = (card: string) => (card === 'a/1' || card === 'a/2' ? 2 : 1);
    const { placed } = layOut([section('a', 4)], 1000, 3, new Set(), heightOf, span);
    const one = (1000 - 2 * GAP) / 3;
    const next = HEADER + CARD + GAP;
    expect(placed[0].cards.map((c) => [Math.round(c.left), c.top, Math.round(c.width)])).toEqual([
      [0, HEADER, Math.round(one)],
      [Math.round(one + GAP), HEADER, Math.round(2 * one + GAP)],
      [0, next, Math.round(2 * one + GAP)],
      [Math.round(2 * (one + GAP)), next, Math.round(one)],
    ]);
    const narrow = layOut([section('a', 2)], 300, 1, new Set(), heightOf, span).placed[0].cards;
    expect(narrow.map((c) => c.width)).toEqual([300, 300]);
  });
  it('of a closed section are not there', () =>
    expect(layOut([section('a', 9, false)], 1000, 3, new Set(), heightOf).placed[0].cards).toEqual([]));
  it('exist only in sight: ten thousand cost as many as fit', () => {
    const { placed } = layOut([section('a', 10000)], 1000, 3, new Set(), heightOf);
    expect(inSight(placed, 50000, 50900)[0].cards.length).toBeLessThanOrEqual(15);
  });
  it('grow by the room for their tables, a taller one without moving its neighbours', () => {
    const { placed, height } = layOut(
      [section('a', 5)],
      1000,
      3,
      new Set(),
      (card) => CARD + (card === 'a/0' ? 300 : 100),
    );
    expect(placed[0].cards.map((c) => [c.top, c.height])).toEqual([
      [HEADER, CARD + 300],
      [HEADER, CARD + 100],
      [HEADER, CARD + 100],
      [HEADER + CARD + 300 + GAP, CARD + 100],
      [HEADER + CARD + 300 + GAP, CARD + 100],
    ]);
    expect(height).toBe(HEADER + 2 * (CARD + GAP) + 400 + GAP);
  });
  it('are in sight while any of their row is', () => {
    const { placed } = layOut([section('a', 9)], 1000, 3, new Set(), (card) => CARD + (card === 'a/3' ? 900 : 100));
    const second = HEADER + CARD + 100 + GAP;
    expect(inSight(placed, second + CARD + 500, second + CARD + 600)[0].cards.map((c) => c.card)).toEqual([
      'a/3',
      'a/4',
      'a/5',
    ]);
  });
  it('are larger where they are few: as few in a row as fit into the page', () => {
    const columns = (n: number, width: number, height: number) =>
      roomyColumns([section('a', n)], width, height, 6, new Set(), heightOf);
    expect(columns(9, 2200, 1250)).toBe(3);
    expect(columns(14, 2200, 1250)).toBe(4);
    expect(columns(100, 2200, 1250)).toBe(6);
    expect(columns(9, 1070, 900)).toBe(3);
    expect(columns(4, 1070, 800)).toBe(2);
    expect(columns(3, 1070, 800)).toBe(2);
  });
  it('are one above the other where there are two, unless that makes them flat', () => {
    const columns = (width: number, height: number) =>
      roomyColumns([section('a', 1), section('b', 1)], width, height, perRow(width, 0), new Set(), heightOf);
    expect(columns(1070, 800)).toBe(1);
    expect(columns(2200, 1200)).toBe(1);
    expect(columns(3000, 1200)).toBe(3);
    expect(columns(350, 800)).toBe(1);
    expect(columns(1070, 500)).toBe(2);
  });
  it('are higher where the page would be half empty, within limits', () => {
    const heights = (n: number, width: number, height: number, columns: number) => {
      const sections = [section('a', n)];
      const spare = spareHeight(sections, width, height, columns, new Set(), heightOf);
      const grown: HeightOf = (card, isWide, own) => {
        const usual = heightOf(card, isWide);
        return usual + growth(spare, own, usual);
      };
      const { placed, height: all } = layOut(sections, width, columns, new Set(), grown);
      expect(all).toBeLessThanOrEqual(Math.max(height, layOut(sections, width, columns, new Set(), heightOf).height));
      return placed[0].cards.map((c) => c.height);
    };
    expect(heights(1, 1070, 800, 3)).toEqual([663]);
    expect(heights(2, 1070, 800, 1)).toEqual([365, 365]);
    expect(heights(2, 1070, 800, 2)).toEqual([420, 420]);
    expect(heights(5, 1070, 800, 3)).toEqual(Array<number>(5).fill(365));
    expect(heights(9, 1070, 800, 3)).toEqual(Array<number>(9).fill(CARD));
    expect(heights(1, 350, 800, 1)).toEqual([420]);
    expect(heights(3, 350, 800, 1)).toEqual([CARD, CARD, CARD]);
  });
  it('are as many in a row as asked for, if they fit', () => {
    expect([perRow(1100, 0), perRow(1100, 5), perRow(300, 6), perRow(100, 0), perRow(1100, 0, 500)]).toEqual([
      3, 5, 1, 1, 2,
    ]);
  });
});
