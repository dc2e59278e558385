import { describe, expect, it } from 'vitest';
import { fitting } from './fit';

const WIDTHS = [100, 80, 60, 90, 70];

describe('the tabs of the header', () => {
  it('are all there when there is room, without a menu when nothing is in it', () => {
    expect(fitting(WIDTHS, 50, false, 400, 0)).toEqual([0, 1, 2, 3, 4]);
    expect(fitting(WIDTHS, 50, true, 449, 0)).toEqual([0, 1, 2, 3]);
    expect(fitting(WIDTHS, 50, true, 450, 0)).toEqual([0, 1, 2, 3, 4]);
  });
  it('that do not fit go behind the menu, which takes its room then', () => {
    expect(fitting(WIDTHS, 50, false, 399, 0)).toEqual([0, 1, 2, 3]);
    expect(fitting(WIDTHS, 50, false, 300, 0)).toEqual([0, 1, 2]);
  });
  it('show the open one, whatever its place', () => {
    expect(fitting(WIDTHS, 50, false, 300, 4)).toEqual([0, 1, 4]);
    expect(fitting(WIDTHS, 50, false, 250, 3)).toEqual([0, 3]);
  });
  it('are the open one alone where nothing fits, and none before they were measured', () => {
    expect(fitting(WIDTHS, 50, false, 10, 2)).toEqual([2]);
    expect(fitting(WIDTHS, 50, false, 10, -1)).toEqual([]);
    expect(fitting([], 50, false, 1000, 0)).toEqual([]);
  });
});
