// Natural order of names: "layer2" before "layer10", "0.003" before "0.03", and "/" before every other character, so that a
// folder comes before its neighbours. A comparison allocates nothing; 10 000 names sort quickly.

const isDigit = (c: number) => c >= 48 && c <= 57;

export function naturalCompare(a: string, b: string): number {
  let i = 0;
  let k = 0;
  while (i < a.length && k < b.length) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(k);
    if (isDigit(x) && isDigit(y)) {
      const startA = i;
      const startB = k;
      while (a.charCodeAt(i) === 48) i++;
      while (b.charCodeAt(k) === 48) k++;
      const fromA = i;
      const fromB = k;
      const zeros = fromA - startA - (fromB - startB);
      if (zeros && isDigit(a.charCodeAt(startA - 2)) && a[startA - 1] === '.') return -zeros; // decimals
      while (i < a.length && isDigit(a.charCodeAt(i))) i++;
      while (k < b.length && isDigit(b.charCodeAt(k))) k++;
      const longer = i - fromA - (k - fromB);
      if (longer) return longer;
      for (let d = 0; d < i - fromA; d++) {
        const by = a.charCodeAt(fromA + d) - b.charCodeAt(fromB + d);
        if (by) return by;
      }
      if (zeros) return zeros;
      continue;
    }
    if (x !== y) {
      if (x === 47) return -1;
      if (y === 47) return 1;
      return x - y;
    }
    i++;
    k++;
  }
  return a.length - i - (b.length - k);
}

/** The part of a tag before the last "/" with it, and the rest. */
export function splitTag(tag: string): [string, string] {
  const at = tag.lastIndexOf('/');
  return at < 0 || at === tag.length - 1 ? ['', tag] : [tag.slice(0, at + 1), tag.slice(at + 1)];
}

/** The group of a tag: its first path segment, "" for none. */
export function groupOf(tag: string): string {
  const at = tag.indexOf('/');
  return at < 0 ? '' : tag.slice(0, at);
}
