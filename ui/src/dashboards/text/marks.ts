// Marks what was looked for in texts on the page, by the browser's highlights: the nodes stay as they are, so that it is
// the same for Markdown, raw texts and differences. A pattern that this browser does not know marks nothing.
const NAME = 'text-find';
const MOST = 2000; // in one text

/** All places of the pattern in the text of these nodes. */
function rangesOf(box: Node, pattern: RegExp): Range[] {
  const out: Range[] = [];
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && out.length < MOST; node = walker.nextNode()) {
    for (const found of (node.nodeValue ?? '').matchAll(pattern)) {
      if (found[0] === '' || out.length >= MOST) continue;
      const range = new Range();
      range.setStart(node, found.index);
      range.setEnd(node, found.index + found[0].length);
      out.push(range);
    }
  }
  return out;
}

export function patternOf(text: string, isRegex: boolean, matchCase: boolean): RegExp | null {
  if (text === '') return null;
  const source = isRegex ? text : text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  try {
    return new RegExp(source, matchCase ? 'gu' : 'giu');
  } catch {
    return null;
  }
}

/** Marks the places within the box until what is returned is called. */
export function mark(box: Node, pattern: RegExp | null): () => void {
  if (!pattern || !('highlights' in CSS)) return () => {};
  const ranges = rangesOf(box, pattern);
  const all = CSS.highlights.get(NAME) ?? new Highlight();
  for (const range of ranges) all.add(range);
  CSS.highlights.set(NAME, all);
  return () => {
    for (const range of ranges) all.delete(range);
  };
}
