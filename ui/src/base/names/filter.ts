// What people type into the run filter: regular expressions over names, conditions, and both joined by and, or, not and
// brackets:
//   resnet.*seed   lr>0.01   state:running   tag:baseline   (lr<=3e-4 or opt=adam) and not ^vit   min(val/loss)<0.3
// A condition is KEY OP VALUE with OP one of > >= < <= = != and ":" (contains); of several values one has to
// match, and with "!=" none may be equal. Keys and values with blanks stand in quotes. Everything else is a regular
// expression that ignores case; brackets belong to it unless they hold a condition or one of the words. A text that is not
// a valid expression gives an error, and the last valid filter stays in use.
import { fail, ok, type Result } from '../result';

export type Filtered = string | number | boolean;
export interface Filterable {
  name: string;
  get(key: string): Filtered | readonly Filtered[] | undefined;
}
export type Predicate = (item: Filterable) => boolean;
export interface Filter {
  meets: Predicate;
  /** of its conditions, as they are typed: a name, or min(NAME), max(NAME), last(NAME) */
  keys: string[];
}

const CONDITION =
  /^((?:min|max|last)\(\s*[^()"]+?\s*\)|"[^"]+"|[\w./@+-]+)\s*(>=|<=|!=|>|<|=|:)\s*("[^"]*"|[^]+?)\s*$/i;
const SUMMARY = /^(min|max|last)\(\s*([^]*?)\s*\)$/i;
const WORD = /\s(?:and|or)\s|(?:^|\s)not\s/i;

/** A key in its parts: min(val/loss) is the least value of val/loss. */
export function partsOfKey(key: string): { of: 'min' | 'max' | 'last' | ''; name: string } {
  const found = SUMMARY.exec(key);
  return found ? { of: found[1].toLowerCase() as 'min', name: found[2] } : { of: '', name: key };
}

const unquoted = (text: string) => text.replace(/^"([^]*)"$/, '$1');

function condition(key: string, op: string, wanted: string): Predicate {
  const number = wanted === '' ? NaN : Number(wanted.replaceAll('−', '-'));
  const word = wanted.toLowerCase();
  const meets = (have: Filtered): boolean => {
    const isNumber = typeof have === 'number' && !Number.isNaN(number);
    const text = String(have).toLowerCase();
    switch (op) {
      case '>':
        return isNumber && (have as number) > number;
      case '>=':
        return isNumber && (have as number) >= number;
      case '<':
        return isNumber && (have as number) < number;
      case '<=':
        return isNumber && (have as number) <= number;
      case '=':
        return isNumber ? have === number : text === word;
      case '!=':
        return isNumber ? have !== number : text !== word;
      default:
        return text.includes(word);
    }
  };
  return (item) => {
    const have = item.get(key);
    if (have === undefined) return false;
    if (typeof have !== 'object') return meets(have);
    return op === '!=' ? have.every(meets) : have.some(meets);
  };
}

export function compileRegex(text: string): Result<RegExp> {
  try {
    return ok(new RegExp(text, 'i'));
  } catch (e) {
    return fail('invalid', e instanceof Error ? e.message : String(e));
  }
}

/** Where the bracket that opens at `from` is closed; -1: nowhere. */
function closing(text: string, from: number): number {
  let depth = 0;
  let isQuoted = false;
  let isClass = false;
  for (let i = from; i < text.length; i++) {
    const c = text[i];
    if (c === '\\') i++;
    else if (c === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (isClass) isClass = c !== ']';
    else if (c === '[') isClass = true;
    else if (c === '(') depth++;
    else if (c === ')' && --depth === 0) return i;
  }
  return -1;
}

/** The parts of a text between a word, outside of brackets and quotes. */
function split(text: string, word: 'and' | 'or'): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '"') i = Math.max(i, text.indexOf('"', i + 1));
    else if (text[i] === '(') i = Math.max(i, closing(text, i));
    else if (/\s/.test(text[i])) {
      const found = /^\s+(\w+)\s/.exec(text.slice(i));
      if (found?.[1].toLowerCase() !== word) continue;
      parts.push(text.slice(from, i));
      from = i += found[0].length - 1;
    }
  }
  return [...parts, text.slice(from)];
}

/** Does a text in brackets say something, rather than belong to a regular expression? */
const isExpression = (text: string) => WORD.test(text) || CONDITION.test(text.trim());

function joined(text: string, word: 'and' | 'or', each: (part: string) => Result<Filter>): Result<Filter> {
  const filters: Filter[] = [];
  for (const part of split(text, word)) {
    if (part.trim() === '') continue;
    const filter = each(part.trim());
    if (!filter.ok) return filter;
    filters.push(filter.value);
  }
  if (filters.length === 1) return ok(filters[0]);
  const isOr = word === 'or' && filters.length > 0;
  return ok({
    meets: (item) => (isOr ? filters.some(({ meets }) => meets(item)) : filters.every(({ meets }) => meets(item))),
    keys: filters.flatMap(({ keys }) => keys),
  });
}

function term(text: string): Result<Filter> {
  const negated = /^not\s+([^]+)$/i.exec(text);
  if (negated) {
    const inner = term(negated[1].trim());
    return inner.ok ? ok({ ...inner.value, meets: (item) => !inner.value.meets(item) }) : inner;
  }
  if (text.startsWith('(') && closing(text, 0) === text.length - 1 && isExpression(text.slice(1, -1)))
    return parseFilter(text.slice(1, -1));
  const found = CONDITION.exec(text);
  if (found) {
    const key = unquoted(found[1]);
    const meets = condition(key, found[2], unquoted(found[3]));
    // many write hyperparameters into the names of runs: lr=0.1 finds those, too
    const literal = /^[=:]$/.test(found[2]) ? text.toLowerCase() : '';
    const isInName = (item: Filterable) =>
      literal !== '' && item.get(key) === undefined && item.name.toLowerCase().includes(literal);
    return ok({ meets: (item) => meets(item) || isInName(item), keys: [key] });
  }
  const regex = compileRegex(text);
  return regex.ok ? ok({ meets: (item) => regex.value.test(item.name), keys: [] }) : regex;
}

export function parseFilter(text: string): Result<Filter> {
  const typed = text.replace(/(?:\s+(?:and|or|not))+\s*$/i, ''); // more is being typed
  return joined(typed, 'or', (part) => joined(part, 'and', term));
}
