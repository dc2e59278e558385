// What people type for a place on an axis: a number ("1e-3", "12 000", "5k"), a span of time ("90", "1.5 h",
// "1 h 30 min"), or a moment ("2026-11-15 14:03"). NaN: none of these.

const FACTORS: Record<string, number> = { k: 1e3, m: 1e6, b: 1e9 };
const UNITS: Record<string, number> = { ms: 0.001, s: 1, min: 60, m: 60, h: 3600, d: 86400 };
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

export function parseNumber(text: string): number {
  const plain = text.replace(/[\s\u2009_]/g, '').replaceAll('−', '-');
  const found = /^(.*\d\.?)([kmb])$/i.exec(plain);
  if (found && NUMBER.test(found[1])) return Number(found[1]) * FACTORS[found[2].toLowerCase()];
  return NUMBER.test(plain) ? Number(plain) : NaN;
}

/** In seconds. */
export function parseDuration(text: string): number {
  const plain = parseNumber(text);
  if (!Number.isNaN(plain) && !/[a-z]/i.test(text.replace(/e[+−-]?\d/i, ''))) return plain;
  const sign = /^\s*[-−]/.test(text) ? -1 : 1;
  let sum = 0;
  let rest = text.replace(/^\s*[-−]/, '').trim();
  while (rest !== '') {
    const found = /^(\d+\.?\d*|\.\d+)\s*(ms|min|[smhd])\s*/i.exec(rest);
    if (!found) return NaN;
    sum += Number(found[1]) * UNITS[found[2].toLowerCase()];
    rest = rest.slice(found[0].length);
  }
  return text.trim() === '' ? NaN : sign * sum;
}

/** In seconds since 1970; without a zone it is the viewer's. */
export function parseMoment(text: string): number {
  const plain = parseNumber(text);
  if (!Number.isNaN(plain) && plain > 1e8) return plain;
  const found = /^\d{4}-\d{1,2}-\d{1,2}/.test(text.trim()) ? Date.parse(text.trim()) : NaN;
  return found / 1000;
}

export const parse = { number: parseNumber, duration: parseDuration, moment: parseMoment };
