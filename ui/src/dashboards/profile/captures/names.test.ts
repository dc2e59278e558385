import { describe, expect, it } from 'vitest';
import type { ProfileCapture } from '../../../public';
import { nameOf } from './names';

const capture = (name: string, ...sources: string[]) =>
  ({ name, sources: sources.map((one) => ({ name: one })) }) as unknown as ProfileCapture;

describe('the name of a capture', () => {
  it('is that of its ranks together, not that of one of them', () => {
    expect(nameOf(capture('ddp.rank1', 'ddp.rank0', 'ddp.rank1'))).toBe('ddp.rank*');
    expect(nameOf(capture('s1/vm2_31', 'vm2_30', 'vm2_31'))).toBe('s1/vm2_*');
  });
  it('is that of the session, of one file, or of a rank where the others are called otherwise', () => {
    expect(nameOf(capture('2026_11_12', 'host0', 'host1'))).toBe('2026_11_12');
    expect(nameOf(capture('vm_1', 'vm_1'))).toBe('vm_1');
    expect(nameOf(capture('east_1', 'west_1', 'east_1'))).toBe('east_1');
  });
});
