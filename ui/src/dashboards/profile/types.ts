// Types that the page makes from the server's answers.
import type { ProfilePartKind } from '../../public';

/** An arrow: track, index, start and depth of its beginning, the same of its end, then its kind. */
export type FlowRow = readonly number[];
/** A piece of a critical path: track, depth, start, duration, state, and 1 if its link to the next piece is a guess. */
export type PathPiece = readonly number[];
/** A wait inside a collective: track, depth, start, duration, and the source that joined last. */
export type WaitRow = readonly number[];
/** A part of a bar: one kind of work in a step, or the rest. */
export type PartKind = ProfilePartKind | 'busy';
export interface Part {
  kind: PartKind;
  ps: number;
  share: number;
}
