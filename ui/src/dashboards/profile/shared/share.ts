// Shares in columns: one decimal, so that decimal points are below each other.

/** "8.3 %". What is above nothing and below all never reads as nothing or all. */
export function shareInColumn(share: number): string {
  const all = share * 100;
  const tenths = all < 100 ? Math.min(99.9, all) : all;
  return `${all > 0 && all < 0.05 ? '<0.1' : tenths.toFixed(1)}\u202f%`;
}
