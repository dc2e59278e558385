// Binary replies of /api/v1 that the first page does not read: where each field of an entry is, and what its flags mean
// (docs/formats/api-v1.md).
// Written by tools/check_api --update from the tables in src/server/api; changes go there.

export const GRID_MAGIC = 'SBH1';
export const GRID_BYTES = 120;
export const GRID_AT = {
  run: 0,
  flags: 4,
  epoch: 8,
  n: 16,
  inRange: 24,
  steps: 32,
  bins: 36,
  firstWall: 40,
  near: 48,
  least: 56,
  greatest: 64,
  step: 72,
  wall: 76,
  marks: 80,
  total: 84,
  mean: 88,
  deviation: 92,
  percentiles: 96,
  edges: 100,
  shares: 104,
  below: 108,
  above: 112,
  ends: 116,
} as const;
/** Not found. */
export const ABSENT = 1;
/** Unchanged. */
export const SAME = 2;
/** The tag holds no histograms. */
export const OF_SCALARS = 4;

export const MEDIA_MAGIC = 'SBM1';
export const MEDIA_BYTES = 80;
export const MEDIA_AT = {
  run: 0,
  flags: 4,
  epoch: 8,
  n: 16,
  points: 24,
  samples: 28,
  step: 32,
  wall: 36,
  offset: 40,
  crc: 44,
  count: 48,
  bytes: 52,
  type: 56,
  width: 60,
  height: 64,
  rate: 68,
  frames: 72,
} as const;
/** Not found, or no series of images or clips. */
export const NO_MEDIA = 1;
/** Unchanged. */
export const SAME_MEDIA = 2;
/** Append: only the points from the client's n on follow. */
export const MORE_MEDIA = 4;

export const SPAN_MAGIC = 'SBP1';
export const SPAN_BYTES = 56;
export const SPAN_AT = {
  track: 0,
  flags: 4,
  slices: 8,
  n: 16,
  lanes: 20,
  start: 24,
  duration: 28,
  name: 32,
  index: 36,
  depth: 40,
  kind: 44,
  count: 48,
  busy: 52,
} as const;
/** There is no such track. */
export const NO_TRACK = 1;

export const COUNT_MAGIC = 'SBQ1';
export const COUNT_BYTES = 40;
export const COUNT_AT = {
  track: 0,
  flags: 4,
  points: 8,
  n: 16,
  time: 20,
  low: 24,
  high: 28,
  last: 32,
} as const;
/** There is no such counter. */
export const NO_COUNTER = 1;

/** Flags of one step. */
export const STEP = {
  /** Superseded. */
  SUPERSEDED: 1,
  /** Its record can't be read any more, or holds no histogram. */
  UNREADABLE: 2,
  /** Buckets with NaN, infinite edges or negative counts were left out. */
  BROKEN: 4,
  /** Counts nothing that could be drawn. */
  EMPTY: 8,
  /** NaN was among what was left out. */
  NAN: 16,
} as const;

/** What the numbers of a column `type` mean. */
export const MEDIA_TYPES: readonly string[] = [
  'application/octet-stream',
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/bmp',
  'image/webp',
  'image/svg+xml',
  'audio/wav',
  'audio/mpeg',
  'audio/ogg',
  'audio/flac',
  'audio/mp4',
  'video/mp4',
  'image/avif',
];
