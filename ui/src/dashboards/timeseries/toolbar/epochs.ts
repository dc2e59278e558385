// Which metrics people are likely to want as x: what counts how far a training is.

const COUNTS =
  /(^|[/_.\-\s])(epochs?|tokens?|samples?|examples?|images?|iters?|iterations?|steps?|flops|hours?)([/_.\-\s]|$)/i;

/** Those first, otherwise as they were. */
export function byLikeliness(tags: readonly string[]): string[] {
  return [...tags.filter((tag) => COUNTS.test(tag)), ...tags.filter((tag) => !COUNTS.test(tag))];
}
