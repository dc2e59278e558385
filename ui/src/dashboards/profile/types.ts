// What the profile routes say.
import type { ProfilePartKind } from '../../public';

export type {
  ProfileAdvice,
  ProfileCapture,
  ProfileCaptures,
  ProfileCollective,
  ProfileDifference,
  ProfileDifferenceRow,
  ProfileDistributed,
  ProfileFlow,
  ProfileFlows,
  ProfileFound,
  ProfileGroup,
  ProfileInput,
  ProfileInputStage,
  ProfileKernel,
  ProfileKernels,
  ProfileMemory,
  ProfileMemoryRow,
  ProfileModule,
  ProfileModules,
  ProfileNames,
  ProfileOp,
  ProfileOpened,
  ProfileOps,
  ProfileOverview,
  ProfilePart,
  ProfilePartKind,
  ProfileRank,
  ProfileSlice,
  ProfileSliceRef,
  ProfileStep,
  ProfileStepCost,
  ProfileTotal,
  ProfileTotals,
  ProfileTrack,
  ProfileTracks,
} from '../../public';

/** Track, index, start, depth of one end, then of the other, then the kind. */
export type FlowRow = readonly number[];
/** A part of a bar: what a step's time went to, or what is left. */
export type PartKind = ProfilePartKind | 'idle';
export interface Part {
  kind: PartKind;
  ps: number;
  share: number;
}
