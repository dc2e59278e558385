// What to look for in the timeline, to find the slices that a piece of advice was concluded from.
import type { ProfileSliceRef } from '../../../public';

/** The text that the advice names, if it is in the names of all these slices; else the name that all of them share. "": no text
 * finds them, and a search would only dim them. */
export function textIn(find: string, slices: readonly Pick<ProfileSliceRef, 'name'>[]): string {
  const names = slices.map(({ name }) => name.toLowerCase());
  if (names.every((name) => name.includes(find.toLowerCase()))) return find;
  return names.every((name) => name === names[0]) ? slices[0].name : '';
}
