// What the page makes of the server's answers.
import type { ProfilePartKind } from '../../public';

/** Track, index, start, depth of one end, then of the other, then the kind. */
export type FlowRow = readonly number[];
/** A part of a bar: what a step's time went to, or what is left. */
export type PartKind = ProfilePartKind | 'busy';
export interface Part {
  kind: PartKind;
  ps: number;
  share: number;
}
