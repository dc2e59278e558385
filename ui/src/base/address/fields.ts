// Fields of a view: one property of an object each, and how it is written in the address. "" is the default and left out
// of the address; reading "" or nonsense sets the default.
import { joinList, splitList } from './hash';

export interface Field {
  key: string;
  write(): string;
  read(text: string): void;
  /** a preference: restored when the page is opened without a view in its address */
  taste?: boolean;
}

export const numberOr = (text: string, fallback: number): number =>
  Number.isFinite(Number(text)) && text !== '' ? Number(text) : fallback;
export const oneOf = <T extends string>(text: string, allowed: readonly T[], fallback: T): T =>
  (allowed as readonly string[]).includes(text) ? (text as T) : fallback;

/** A text; "" by default. */
export const text = <P extends string>(key: string, of: Record<P, string>, name: P): Field => ({
  key,
  write: () => of[name],
  read: (t) => (of[name] = t),
});

/** A switch; off by default. `word` stands for on. */
export const flag = <P extends string>(key: string, of: Record<P, boolean>, name: P, word = 'on'): Field => ({
  key,
  write: () => (of[name] ? word : ''),
  read: (t) => (of[name] = t === word),
});

/** One of several words; the first is the default. */
export const choice = <T extends string, P extends string>(
  key: string,
  of: Record<P, T>,
  name: P,
  allowed: readonly [T, ...T[]],
): Field => ({
  key,
  write: () => (of[name] === allowed[0] ? '' : of[name]),
  read: (t) => (of[name] = oneOf(t, allowed, allowed[0])),
});

/** A whole number from 0, which is the default. */
export const count = <P extends string>(key: string, of: Record<P, number>, name: P): Field => ({
  key,
  write: () => (of[name] ? String(of[name]) : ''),
  read: (t) => (of[name] = Math.max(0, Math.floor(numberOr(t, 0)))),
});

/** Names in order. */
export const list = <P extends string>(key: string, of: Record<P, readonly string[]>, name: P): Field => ({
  key,
  write: () => joinList(of[name]),
  read: (t) => (of[name] = splitList(t)),
});

/** Names in no order. */
export const names = <P extends string>(key: string, of: Record<P, ReadonlySet<string>>, name: P): Field => ({
  key,
  write: () => joinList(of[name]),
  read: (t) => (of[name] = new Set(splitList(t))),
});

export const taste = (field: Field): Field => ({ ...field, taste: true });

/** The set with the name added, or without it where it had it. */
export function toggled(set: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(name)) next.add(name);
  return next;
}
