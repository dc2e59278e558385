import { describe, expect, it } from 'vitest';
import { tableRoom } from './heights';

describe('cards of charts', () => {
  it('have tables of the height given, or of all their rows', () => {
    expect([
      tableRoom(108, false, 50),
      tableRoom(108, true, 2),
      tableRoom(108, true, 10),
      tableRoom(108, true, 10000),
    ]).toEqual([124, 124, 16 + 11 * 24 + 12, 16 + 15 * 24 + 12]);
  });
});
