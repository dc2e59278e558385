// What the page makes of the server's answers.
import type { ProfilePartKind } from '../../public';

/** Track, index, start, depth of one end, then of the other, then the kind. */
export type FlowRow = readonly number[];
/** Of a critical path: track, depth, start, duration, state, and 1 where the link to it is a guess. */
export type PathPiece = readonly number[];
/** Of waits inside collectives: track, depth, start, duration, the source that joined last. */
export type WaitRow = readonly number[];
/** A part of a bar: what a step's time went to, or what is left. */
export type PartKind = ProfilePartKind | 'busy';
export interface Part {
  kind: PartKind;
  ps: number;
  share: number;
}
