// Short names that are still distinct: of names that are shown together, the parts that all of them share are left out, never
// those that differ. Pure functions.

const MARK = '…';
const LEAST = 4; // letters that are worth a mark in their place
// a number such as 0.003 is one word
const wordsOf = (name: string): string[] =>
  name.match(/(?:[^/_.,= -]|(?<=\d)\.(?=\d))+[/_.,= -]*|[/_.,= -]+/g) ?? [name];

/** How many words are the same in all, from the start or from the end. */
function shared(all: readonly string[][], from: 'start' | 'end'): number {
  const most = Math.min(...all.map((words) => words.length)) - 1; // one is left of each
  const at = (words: string[], i: number) => words[from === 'start' ? i : words.length - 1 - i];
  let n = 0;
  while (n < most && all.every((words) => at(words, n) === at(all[0], n))) n++;
  return n;
}

/** Which words of a name are kept: those that not all names have at the same place, from the start or from the end. */
function differing(all: readonly string[][]): (words: string[], i: number) => boolean {
  const start = shared(all, 'start');
  const end = Math.min(shared(all, 'end'), Math.min(...all.map((words) => words.length)) - 1 - start);
  const same = all[0].map((word, i) => all.every((words) => words[i] === word));
  return (words, i) => i >= start && i < words.length - end && !same[i];
}

/** A name as its beginning, which may be cut off where there is little room, and its last words, which stay. */
export function lastWords(name: string, most = 18): [string, string] {
  let end = '';
  for (const word of wordsOf(name).reverse()) {
    if (end.length + word.length > most) break;
    end = word + end;
  }
  return [name.slice(0, name.length - end.length), end];
}

/** Names by what their labels become. */
function by(labels: Map<string, string>, shorten: (label: string) => string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [name, label] of labels) {
    const short = shorten(label);
    const alike = found.get(short);
    if (alike) alike.push(name);
    else found.set(short, [name]);
  }
  return found;
}

/** Labels that are cut in their middle to at most `most` letters; of those that are alike then, only what differs is kept. */
function cut(labels: Map<string, string>, most: number): Map<string, string> {
  const end = most >> 1;
  const alike = by(labels, (label) =>
    label.length > most ? label.slice(0, most - end - 1) + MARK + label.slice(-end) : label,
  );
  const found = new Map<string, string>();
  for (const [short, names] of alike)
    if (names.length > 1 && alike.size > 1) for (const pair of cut(tellApart(names), most)) found.set(...pair);
    else for (const name of names) found.set(name, short);
  return found;
}

/**
 * The names as short labels, all different where the names are; names of at most `room` letters stay as they are. Where a label
 * may have at most so many letters, it is cut, and two may be alike.
 */
export function tellApart(names: readonly string[], room = 0, most?: number): Map<string, string> {
  if (most !== undefined) return cut(tellApart(names, room), Math.max(3, most));
  const distinct = [...new Set(names)];
  const asTheyAre = new Map(distinct.map((name) => [name, name]));
  if (distinct.length < 2 || distinct.every((name) => name.length <= room)) return asTheyAre;
  const all = distinct.map(wordsOf);
  const isKept = differing(all);
  const labels = all.map((words) => {
    let label = '';
    let left = ''; // what was left out since the last word that was kept
    words.forEach((word, i) => {
      if (!isKept(words, i)) {
        left += word;
        return;
      }
      label += (left.length >= LEAST ? MARK : left) + word;
      left = '';
    });
    return label.replace(/[/_.,= -]+$/, '') + (left.length >= LEAST ? MARK : left);
  });
  if (new Set(labels).size < labels.length) return asTheyAre;
  return new Map(distinct.map((name, i) => [name, labels[i]]));
}

const LONG = 6; // letters of a word that is worth cutting
const KEPT = 3; // letters that stay of it

/** A label whose longest words are cut ("val…" for "validation") until it has at most `room` letters; words with digits stay. */
function cutWords(label: string, room: number): string {
  const words = label.match(/\p{L}+|\P{L}+/gu) ?? [];
  const isWhole = (i: number) => !/\d$/.test(words[i - 1] ?? '') && !/^\d/.test(words[i + 1] ?? '');
  const long = words
    .map((word, i) => ({ i, length: word.length }))
    .filter(({ i, length }) => length >= LONG && /\p{L}/u.test(words[i]) && isWhole(i))
    .sort((a, b) => b.length - a.length);
  let rest = label.length - room;
  for (const { i, length } of long) {
    if (rest <= 0) break;
    words[i] = words[i].slice(0, KEPT) + MARK;
    rest -= length - KEPT - 1;
  }
  return words.join('').replace(/…[-_ ]/g, MARK);
}

const MANY = 3; // names that begin alike: what these share goes without saying

/**
 * Labels for a narrow list: what all names share is left out, then long words are cut, so that nothing that differs has to go.
 * Where all names together share nothing, those that begin with the same word are told apart among themselves: one name of
 * another kind does not keep all others long. There are no marks at the ends, which would say the same of all.
 */
export function abridge(names: readonly string[], room: number): Map<string, string> {
  const told = tellApart(names, room);
  let labels = new Map(told);
  if (told.get(names[0]) === names[0])
    for (const kind of by(told, (name) => wordsOf(name)[0]).values())
      if (kind.length >= MANY) for (const pair of tellApart(kind, room)) labels.set(...pair);
  for (const [name, label] of labels) labels.set(name, label.replace(/^…|…$/g, ''));
  if (new Set(labels.values()).size < labels.size) labels = told;
  const cuts = by(labels, (label) => cutWords(label, room));
  for (const [label, alike] of cuts) if (alike.length === 1) labels.set(alike[0], label);
  return labels;
}
