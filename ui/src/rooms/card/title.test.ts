import { describe, expect, it, vi } from 'vitest';

vi.mock('../../public', async () => await vi.importActual<object>('../../base/names/natural'));
const { cutInMiddle, titleOf } = await import('./title');

describe('the title of a card', () => {
  it('says what its tags share', () => {
    expect(titleOf(['train/loss', 'val/loss'])).toEqual(['train + val/', 'loss']);
    expect(titleOf(['loss', 'val_loss'])).toEqual(['', 'loss + val_loss']);
    expect(titleOf(['a/b'])).toEqual(['a/', 'b', undefined]);
  });
  it('has what torch appends to the tag of every text behind its name', () => {
    expect(titleOf(['samples/model/text_summary'])).toEqual(['samples/', 'model', '/text_summary']);
    expect(titleOf(['note/text_summary'])).toEqual(['', 'note', '/text_summary']);
    expect(titleOf(['text_summary'])).toEqual(['', 'text_summary', undefined]);
    expect(titleOf(['/text_summary'])).toEqual(['/', 'text_summary', undefined]);
  });
  it('keeps its end where it is long', () => {
    expect(cutInMiddle('train/', 'loss')).toEqual(['loss', '']);
    expect(cutInMiddle('gradients/encoder/', 'self_attention.out_proj.weight')).toEqual([
      'self_attention.out_',
      'proj.weight',
    ]);
    expect(cutInMiddle('a/path/of/many/folders/', 'loss')).toEqual(['', 'loss']);
    expect(cutInMiddle('train/', 'tokens_per_s')).toEqual(['', 'tokens_per_s']);
    expect(cutInMiddle('', '🐟'.repeat(30))).toEqual(['🐟'.repeat(19), '🐟'.repeat(11)]);
  });
});
