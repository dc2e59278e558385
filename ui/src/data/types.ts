// What /api/v1 says, as types (docs/formats/api-v1.md). Numbers that JSON cannot hold come as strings.

export type Num = number | string;

export interface Loading {
  isLoading: boolean;
  runs: number;
  files: number;
  bytes: number;
  bytesDone: number;
  points: number;
  problems: number;
  problem: string;
}
export interface FileState {
  run: string;
  path: string;
  size: number;
  read: number;
  records: number;
  damaged: number;
  lost: number;
  state: string;
  trouble: string;
}
export interface Status {
  version: number;
  program: { name: string; version: string };
  logdir: string;
  windowTitle: string;
  startedAt: number;
  loading: Loading;
  plugins: Record<string, number>;
  state?: { persistent: boolean; hint: string };
  damage: { files: number; records: number; bytes: number };
  files?: FileState[];
}
export type RunState = 'running' | 'stalled' | 'finished' | 'loading';
export interface Run {
  id: number;
  name: string;
  start: number | null;
  last: number | null;
  state: RunState;
  points: number;
  series: number;
  epoch: number;
  version: number;
  attempts: number;
  damaged: number;
  hparams?: Record<string, string | number | boolean>;
  status?: string;
}
export interface Tag {
  tag: string;
  plugin: string;
  displayName: string;
  description: string;
  runs: number[] | 'all';
  samples: number;
}
export interface Changes {
  version: number;
  since: number;
  loading: Loading;
  runCount?: number;
  runs: Run[];
  gone?: number[];
  series: [number, string, number][];
  more: boolean;
}
export interface Cell {
  n: number;
  last: Num;
  lastStep: Num;
  min: Num;
  minStep: Num;
  max: Num;
  maxStep: Num;
  nan: number;
  firstWall: number;
  lastWall: number;
}
export interface Summaries {
  version: number;
  runs: number[];
  tags: string[];
  cells: (Cell | null)[][];
}
export type XAxis = 'step' | 'relative' | 'wall';
export type SmoothKind = 'none' | 'ema' | 'time_ema' | 'window' | 'gaussian' | 'median';
export interface Smoothing {
  kind: SmoothKind;
  weight?: number;
  points?: number;
}
export type Column = 'step' | 'wall' | 'value' | 'smooth' | 'flags';
export interface ScalarsAsk {
  x: XAxis;
  width: number;
  range?: [number, number];
  smoothing: Smoothing;
  columns: Column[];
  series: { run: number; tag: string; epoch?: number; n?: number }[];
}
export interface BandsAsk {
  x: XAxis;
  width: number;
  range?: [number, number];
  smoothing: Smoothing;
  center: 'mean' | 'median';
  spread: 'std' | 'ci95' | 'minmax';
  groups: { key: string; series: { run: number; tag: string }[] }[];
}
export type StateItems = Record<string, unknown>;
export interface People {
  revision: number;
  persistent: boolean;
  items: StateItems;
}

/** A number that may have come as "NaN" or "-Infinity". */
export const toNumber = (v: Num): number => (typeof v === 'number' ? v : Number(v));
