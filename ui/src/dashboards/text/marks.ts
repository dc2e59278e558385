// Marks search results in texts on the page with the browser's CSS Custom Highlight API. It does not change the nodes, so
// it works in the same way for Markdown, raw texts and comparisons. If the browser does not support the API or the
// pattern, nothing is marked.
const NAME = 'text-find';
const MOST = 2000; // most marks in one text

/** The ranges of all matches in the text of these nodes. */
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

/** Marks the matches inside the box until the returned function is called. */
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
