// Finds metrics that are likely to be wanted as the x axis: those that count the progress of training.

const COUNTS =
  /(^|[/_.\-\s])(epochs?|tokens?|samples?|examples?|images?|iters?|iterations?|steps?|flops|hours?)([/_.\-\s]|$)/i;

/** Sorts such metrics first; otherwise the order stays the same. */
export function byLikeliness(tags: readonly string[]): string[] {
  return [...tags.filter((tag) => COUNTS.test(tag)), ...tags.filter((tag) => !COUNTS.test(tag))];
}
