// Which tags are drawn in one card.

/** All cards in order. A card of several tags is at the position of its first tag. */
export function combinedCards(tags: readonly string[], groups: readonly (readonly string[])[]): string[][] {
  if (groups.length === 0) return tags.map((tag) => [tag]);
  const ofFirst = new Map<string, string[]>();
  const taken = new Set<string>();
  const known = new Set(tags);
  for (const group of groups) {
    const present = group.filter((tag) => known.has(tag) && !taken.has(tag));
    if (present.length < 2) continue;
    ofFirst.set(present[0], present);
    for (const tag of present) taken.add(tag);
  }
  return tags.flatMap((tag) => {
    const together = ofFirst.get(tag);
    if (together) return [together];
    return taken.has(tag) ? [] : [[tag]];
  });
}
