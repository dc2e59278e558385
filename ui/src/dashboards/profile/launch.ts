// How a kernel was launched, from its arguments: torch has a field for each fact, an XSpace one text, "regs:86 static_shared:0
// dynamic_shared:16384 grid:256,1,1 block:128,1,1".
import type { ProfileKernel } from '../../public';

const detailOf = ({ args }: ProfileKernel, key: string): string | undefined => {
  const details = typeof args.kernel_details === 'string' ? args.kernel_details : '';
  return new RegExp(`(?:^|\\s)${key}:([\\d,]+)`).exec(details)?.[1];
};
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const listed = (value: unknown): string =>
  Array.isArray(value) ? value.join(' × ') : typeof value === 'string' ? value : '';

function dimsOf(kernel: ProfileKernel, key: 'grid' | 'block'): string {
  return detailOf(kernel, key)?.split(',').join(' × ') ?? listed(kernel.args[key]);
}

/** "256 × 1 × 1 / 128 × 1 × 1": grid and block; empty where neither is known. */
export function gridOf(kernel: ProfileKernel): string {
  const [grid, block] = [dimsOf(kernel, 'grid'), dimsOf(kernel, 'block')];
  return grid || block ? `${grid} / ${block}` : '';
}

/** Registers of one thread. */
export function registersOf(kernel: ProfileKernel): number | undefined {
  const detail = detailOf(kernel, 'regs');
  return detail === undefined ? numberOf(kernel.args['registers per thread']) : Number(detail);
}

/** Bytes of shared memory of one block: what the code declares and what the launch adds. */
export function sharedOf(kernel: ProfileKernel): number | undefined {
  const [fixed, added] = [detailOf(kernel, 'static_shared'), detailOf(kernel, 'dynamic_shared')];
  if (fixed === undefined && added === undefined) return numberOf(kernel.args['shared memory']);
  return Number(fixed ?? 0) + Number(added ?? 0);
}
