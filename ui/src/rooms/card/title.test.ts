import { describe, expect, it, vi } from 'vitest';

vi.mock('../../public', async () => await vi.importActual<object>('../../base/natural'));
const { titleOf } = await import('./title');

describe('the title of a card', () => {
  it('says what its tags share', () => {
    expect(titleOf(['train/loss', 'val/loss'])).toEqual(['train + val/', 'loss']);
    expect(titleOf(['loss', 'val_loss'])).toEqual(['', 'loss + val_loss']);
    expect(titleOf(['a/b'])).toEqual(['a/', 'b']);
  });
});
