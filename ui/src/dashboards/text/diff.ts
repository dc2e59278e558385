// The difference of two texts, word by word: Myers' greedy algorithm with a bound on the number of edits. First the
// common beginning and the common end of the texts are removed. If the rest is too long or too different for the bound,
// lines are compared instead of words; if that fails too, the whole rest counts as replaced. So the time is at most the
// length of the texts times the bound.

export interface Piece {
  kind: 'same' | 'added' | 'removed';
  text: string;
}
export interface Difference {
  pieces: Piece[];
  added: number; // in words
  removed: number;
  same: number;
  /** the units that were compared in the end */
  by: 'words' | 'lines' | 'whole';
}

const MOST_EDITS = 1500;
const MOST_TOKENS = 40_000;

/** The tokens are words and blanks; each Chinese or Japanese character is a word. */
const WORDS =
  /\s+|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}_])+|[^\s\p{L}\p{N}_]/gu;
const LINES = /[^\n]*\n|[^\n]+$/g;
const tokensOf = (text: string, by: RegExp): string[] => text.match(by) ?? [];
const isWord = (token: string) => token.trim() !== '';

/** The edits that turn a into b, as pieces in order; null if there are more than `most` of them. */
function edits(a: readonly string[], b: readonly string[], most: number): Piece[] | null {
  const max = Math.min(most, a.length + b.length);
  const size = 2 * max + 3;
  let furthest = new Int32Array(size);
  const trace: Int32Array[] = [];
  const at = (k: number) => k + max + 1;
  for (let d = 0; d <= max; d++) {
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && furthest[at(k - 1)] < furthest[at(k + 1)]);
      let x = isDown ? furthest[at(k + 1)] : furthest[at(k - 1)] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      furthest[at(k)] = x;
      if (x >= a.length && x - k >= b.length) return walkBack(a, b, trace, d, k, at);
    }
    trace.push(furthest.slice(at(-d), at(d) + 1));
    furthest = furthest.slice();
  }
  return null;
}

function walkBack(
  a: readonly string[],
  b: readonly string[],
  trace: readonly Int32Array[],
  edits: number,
  diagonal: number,
  _: (k: number) => number,
): Piece[] {
  const out: Piece[] = [];
  let x = a.length;
  let k = diagonal;
  for (let d = edits; d > 0; d--) {
    const before = trace[d - 1]; // for the diagonals -(d - 1) to d - 1
    const value = (j: number) => (Math.abs(j) <= d - 1 ? before[j + d - 1] : -1);
    const isDown = k === -d || (k !== d && value(k - 1) < value(k + 1));
    const from = isDown ? k + 1 : k - 1;
    const start = value(from);
    const moved = isDown ? start : start + 1;
    while (x > moved) out.push({ kind: 'same', text: a[--x] });
    if (isDown) out.push({ kind: 'added', text: b[x - k - 1] });
    else out.push({ kind: 'removed', text: a[x - 1] });
    k = from;
    x = start;
  }
  while (x > 0) out.push({ kind: 'same', text: a[--x] });
  return out.reverse();
}

/** Merges neighbouring pieces of one kind. Within a change, removed text comes before added text. */
function merged(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = [];
  let removed = '';
  let added = '';
  const flush = () => {
    if (removed) out.push({ kind: 'removed', text: removed });
    if (added) out.push({ kind: 'added', text: added });
    removed = added = '';
  };
  for (const { kind, text } of pieces) {
    if (kind === 'removed') removed += text;
    else if (kind === 'added') added += text;
    else {
      flush();
      const last = out.at(-1);
      if (last?.kind === 'same') last.text += text;
      else out.push({ kind, text });
    }
  }
  flush();
  return out;
}

function compare(a: string, b: string): { pieces: Piece[]; by: Difference['by'] } {
  for (const [by, pattern] of [
    ['words', WORDS],
    ['lines', LINES],
  ] as const) {
    const [x, y] = [tokensOf(a, pattern), tokensOf(b, pattern)];
    if (x.length + y.length > MOST_TOKENS) continue;
    const found = edits(x, y, MOST_EDITS);
    if (found) return { pieces: found, by };
  }
  const pieces: Piece[] = [];
  if (a) pieces.push({ kind: 'removed', text: a });
  if (b) pieces.push({ kind: 'added', text: b });
  return { pieces, by: 'whole' };
}

/** The length of the common beginning (or end) of two texts, shortened to whole words. */
function commonEnd(a: string, b: string, isFront: boolean): number {
  const most = Math.min(a.length, b.length);
  let n = 0;
  if (isFront) while (n < most && a.charCodeAt(n) === b.charCodeAt(n)) n++;
  else while (n < most && a.charCodeAt(a.length - 1 - n) === b.charCodeAt(b.length - 1 - n)) n++;
  if (n === a.length && n === b.length) return n;
  const blank = (i: number) => /\s/.test(isFront ? a[i] : a[a.length - 1 - i]);
  while (n > 0 && !blank(n - 1)) n--;
  return n;
}

export function difference(a: string, b: string): Difference {
  const front = commonEnd(a, b, true);
  const [restA, restB] = [a.slice(front), b.slice(front)];
  const back = commonEnd(restA, restB, false);
  const { pieces, by } = compare(restA.slice(0, restA.length - back), restB.slice(0, restB.length - back));
  const all = merged([
    { kind: 'same', text: a.slice(0, front) },
    ...pieces,
    { kind: 'same', text: restA.slice(restA.length - back) },
  ]).filter(({ text }) => text !== '');
  const count = (kind: Piece['kind']) =>
    all.reduce((n, piece) => n + (piece.kind === kind ? tokensOf(piece.text, WORDS).filter(isWord).length : 0), 0);
  return { pieces: all, added: count('added'), removed: count('removed'), same: count('same'), by };
}

/** The pieces of one side of a comparison: its own text and the common text. */
export const sideOf = (pieces: readonly Piece[], side: 'removed' | 'added'): Piece[] =>
  pieces.filter(({ kind }) => kind === 'same' || kind === side);
