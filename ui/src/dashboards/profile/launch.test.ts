// How kernels were launched, as torch and as XSpaces tell it.
import { describe, expect, it } from 'vitest';
import type { ProfileKernel } from '../../public';
import { gridOf, registersOf, sharedOf } from './launch';

const kernel = (args: Record<string, unknown>) => ({ args }) as ProfileKernel;

describe('the launch of a kernel', () => {
  it('is read from the fields of torch', () => {
    const one = kernel({ grid: [2, 1, 1], block: [128, 4, 1], 'registers per thread': 96, 'shared memory': 2048 });
    expect([gridOf(one), registersOf(one), sharedOf(one)]).toEqual(['2 × 1 × 1 / 128 × 4 × 1', 96, 2048]);
  });

  it('is read from the details of an XSpace', () => {
    const kernel_details = 'regs:86 static_shared:64 dynamic_shared:16384 grid:256,1,1 block:128,1,1 occ_pct:31.25';
    const one = kernel({ kernel_details });
    expect([gridOf(one), registersOf(one), sharedOf(one)]).toEqual(['256 × 1 × 1 / 128 × 1 × 1', 86, 16448]);
  });

  it('is unknown where nothing is told', () => {
    const one = kernel({});
    expect([gridOf(one), registersOf(one), sharedOf(one)]).toEqual(['', undefined, undefined]);
  });
});
