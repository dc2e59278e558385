import { describe, expect, it } from 'vitest';
import { Pace } from './pace';

describe('time left', () => {
  it('follows the pace of the last seconds', () => {
    const pace = new Pace();
    expect(pace.note(0, 0, 1000)).toBe(null);
    expect(pace.note(1000, 100, 1000)).toBe(9);
    expect(pace.note(2000, 400, 1000)).toBe(3);
    for (let s = 3; s <= 20; s++) pace.note(s * 1000, 400 + s, 1000);
    expect(pace.note(21000, 421, 1000)).toBe(579);
  });
  it('is not told from too little, when nothing moves, or when all is done', () => {
    const pace = new Pace();
    pace.note(0, 0, 1000);
    expect(pace.note(100, 500, 1000)).toBe(null);
    expect(new Pace().note(5000, 0, 1000)).toBe(null);
    expect(pace.note(3000, 1000, 1000)).toBe(null);
  });
  it('begins anew with another reading', () => {
    const pace = new Pace();
    pace.note(0, 500, 1000);
    pace.note(1000, 900, 1000);
    expect(pace.note(2000, 10, 1000)).toBe(null);
    expect(pace.note(3000, 110, 1010)).toBe(9);
  });
});
