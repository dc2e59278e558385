// What people type into the run filter: a regular expression over names, conditions, or both joined by "and":
//   resnet.*seed   lr>0.01   state:running   tag:baseline   lr<=3e-4 and opt=adam and ^vit
// A condition is KEY OP VALUE with OP one of > >= < <= = != and ":" (contains); of several values one has to
// match, and with "!=" none may be equal. Everything else is a regular expression that ignores case. A text that is not a
// valid expression gives an error, and the last valid filter stays in use.
import { fail, ok, type Result } from './result';

export type Filtered = string | number | boolean;
export interface Filterable {
  name: string;
  get(key: string): Filtered | readonly Filtered[] | undefined;
}
export type Predicate = (item: Filterable) => boolean;

const CONDITION = /^\s*([\w./-]+)\s*(>=|<=|!=|>|<|=|:)\s*(.+?)\s*$/;

function condition(key: string, op: string, wanted: string): Predicate {
  const number = wanted === '' ? NaN : Number(wanted);
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

export function parseFilter(text: string): Result<Predicate> {
  const parts: Predicate[] = [];
  for (const piece of text.split(/\s+and\s+/i)) {
    if (piece.trim() === '') continue;
    const found = CONDITION.exec(piece);
    if (found) {
      parts.push(condition(found[1], found[2], found[3]));
      continue;
    }
    const regex = compileRegex(piece.trim());
    if (!regex.ok) return regex;
    parts.push((item) => regex.value.test(item.name));
  }
  return ok((item) => parts.every((part) => part(item)));
}
