// How captures are called where people read it.
import type { ProfileCapture } from '../../../public';

const DIGITS = /\d+/g;

/** Names that differ in digits only, as one: "ddp.rank0" and "ddp.rank1" are "ddp.rank*". "": they differ otherwise. */
function commonName(names: readonly string[]): string {
  const [first = '', ...others] = names;
  const shape = (name: string) => name.replace(DIGITS, '*');
  if (others.some((name) => shape(name) !== shape(first))) return '';
  const digits = names.map((name) => name.match(DIGITS) ?? []);
  let at = 0;
  return first.replace(DIGITS, (own) => {
    const isShared = digits.every((of) => of[at] === own);
    at += 1;
    return isShared ? own : '*';
  });
}

/** Several captures of one worker in one run have the same name: only their times tell them. */
export const isRepeated = (capture: ProfileCapture, captures: readonly ProfileCapture[]): boolean =>
  captures.some(({ id, run, ...of }) => id !== capture.id && run === capture.run && nameOf(of) === nameOf(capture));

/** The session, or the worker. The server names a capture of several ranks after one of them. */
export function nameOf({ name, sources }: Pick<ProfileCapture, 'name' | 'sources'>): string {
  const one = sources.length > 1 && sources.find((source) => source.name && name.endsWith(source.name));
  const all = one && commonName(sources.map((source) => source.name));
  return one && all ? name.slice(0, name.length - one.name.length) + all : name;
}
