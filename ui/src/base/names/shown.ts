// Sets of names in which "a/b/" stands for every name that begins with a/b/, so that a folder of ten thousand runs is one
// word in the address, and a run that is added to the folder later belongs to the set too.

export function covers(set: ReadonlySet<string>, name: string): boolean {
  if (set.size === 0) return false;
  if (set.has(name)) return true;
  for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1))
    if (set.has(name.slice(0, at + 1))) return true;
  return false;
}

/** The set with these names added; a folder replaces the names beneath it. */
export function including(set: ReadonlySet<string>, names: Iterable<string>): Set<string> {
  const next = new Set(set);
  for (const name of names) {
    next.add(name);
    if (name.endsWith('/')) for (const had of next) if (had !== name && had.startsWith(name)) next.delete(had);
  }
  return next;
}

/** The set without these names; a folder that holds one of them is replaced by its other names. */
export function excluding(set: ReadonlySet<string>, names: Iterable<string>, all: Iterable<string>): Set<string> {
  const gone = new Set(names);
  const next = new Set<string>();
  const apart: string[] = [];
  for (const had of set) {
    if (covers(gone, had) || gone.has(had)) continue;
    if (had.endsWith('/') && [...gone].some((name) => name.startsWith(had))) apart.push(had);
    else next.add(had);
  }
  if (apart.length)
    for (const name of all) if (!covers(gone, name) && apart.some((folder) => name.startsWith(folder))) next.add(name);
  return next;
}
