// What /api/v1 says and takes, as types (docs/formats/api-v1.md).
// Written by tools/check_api --update from the tables in src/server/api; changes go there.

// ---- JSON ----

/** A number; as text where JSON has none for it: NaN, infinities, steps beyond 2^53. */
export type Num = number | string;
export type XAxis = 'step' | 'step_relative' | 'relative' | 'wall' | MetricAxis;
export type SmoothKind = 'none' | 'ema' | 'time_ema' | 'window' | 'gaussian' | 'median';
export type Column = 'step' | 'wall' | 'value' | 'smooth' | 'flags' | 'x';
export type CompareKind = 'difference' | 'ratio';
export type RunState = 'running' | 'stalled' | 'finished' | 'loading';
export type StateItems = Record<string, unknown>;
export type ProfileFormat = 'xplane' | 'kineto' | 'chrome' | 'stepstats';
export type ProfileStepRule = 'none' | 'marked' | 'keras' | 'steps_line' | 'function' | 'module' | 'periodic' | 'name';
export type ProfilePartKind = 'compute' | 'communication' | 'copy' | 'input' | 'compile' | 'sync' | 'launch' | 'optimizer' | 'host' | 'other';
export type ProfilePathState = 'work' | 'wait' | 'launch' | 'queue' | 'handover' | 'nothing';
/** Another metric of the same run as x. */
export interface MetricAxis {
  tag: string;
}
/** The place from which on a text in protobuf's text format can't be parsed. */
export interface TextFault {
  reason: 'quote' | 'quoted' | 'escape' | 'utf8' | 'whole' | 'range' | 'number' | 'flag' | 'value' | 'brace' | 'deep' | 'list' | 'name' | 'field' | 'twice' | 'colon' | 'block'; // a word for what is wrong there
  line: number; // from 1
  column: number; // from 1, in bytes
  token: string; // what stands there, its beginning if it is long; empty at the end of the text
}
/** Why a request was refused. */
export interface Problem {
  code: string;
  message: string; // to be shown
  fault?: TextFault; // of a file with a graph as text
}
export interface Refusal {
  error: Problem;
}
/** How far reading is. */
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
  state: 'live' | 'idle' | 'reading' | 'failed';
  trouble: string;
}
export interface Program {
  name: string;
  version: string;
}
/** Bytes of points. */
export interface Memory {
  chunks: number;
  spilled: number; // moved to a file
  problem: string; // why points beyond the limit stay in memory; empty when they don't
  smoothed: number; // of smoothed lines, kept for the next request
}
/** How often a file was found to have grown, by what led to the look. */
export interface Noticed {
  inotify: number; // an event of the kernel
  polling: number; // the look at files that grew lately
  walks: number; // a walk of the whole tree
}
/** What the server is busy with, and how much it refused. */
export interface Http {
  connections: number; // open now
  streams: number; // live streams, open now
  requests: number; // answered since the start
  refused: number; // before a handler ran: no permission, too large, too many
  tooSlow: number; // connections that were cut by a time limit
  queued: number; // requests that wait for a thread now
  memory: number; // bytes that all requests and replies take now
  memoryLimit: number; // bytes that they may take together; 0: no limit
  noMemory: number; // times when something was refused because of that limit
}
/** Whether what people note outlives the server. */
export interface Keeping {
  persistent: boolean;
  hint: string;
}
export interface Damage {
  files: number;
  records: number;
  bytes: number;
}
export interface Status {
  version: number;
  instance: string; // of the server's process: ids and versions of another one mean nothing here
  program: Program;
  logdir: string;
  windowTitle: string;
  sandbox: string; // what the process may not do, in words; or off, and why
  loading: Loading;
  memory: Memory;
  noticed: Noticed;
  http: Http;
  state: Keeping;
  plugins: Record<string, number>; // distinct tags of each
  files?: FileState[]; // when asked for
  damage: Damage;
}
export interface Run {
  id: number; // never used again while the server runs
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
  droppedTags: number;
  hparams?: Record<string, string | number | boolean>; // as logged; those without a value are left out
  status?: 'success' | 'failure' | 'running' | 'unknown'; // how the session ended
}
export interface Runs {
  version: number;
  instance: string;
  runs: Run[];
}
export interface Tag {
  tag: string;
  plugin: string;
  displayName?: string; // absent: none, as description and samples
  description?: string; // HTML
  runs: number[] | 'all';
  samples?: number; // images or clips a step
}
export interface Tags {
  version: number;
  instance: string;
  tags: Tag[];
}
/** A run that was deleted. */
export interface GoneRun {
  id: number;
  name: string;
}
export interface Changes {
  version: number;
  instance: string;
  since: number;
  reset: boolean; // drop everything and load anew; the rest is as for since=0
  loading: Loading;
  runCount: number;
  gone: GoneRun[]; // runs that were deleted
  runs: Run[]; // only those that changed
  series: [number, string, number, string, boolean][]; // run, tag, points, plugin of those that grew, and whether the series is new
  more: boolean; // there were too many to list
}
export interface SummariesAsk {
  tags: string[];
  runs?: number[]; // absent: all
}
export interface Cell {
  n: number;
  last: Num;
  lastStep: Num;
  min?: Num; // these five: when there is a finite value
  minStep?: Num;
  max?: Num;
  maxStep?: Num;
  mean?: Num;
  nan: number; // values that are NaN
  infinite: number; // values that are plus or minus infinity
  firstWall: Num;
  lastWall: Num;
}
export interface Summaries {
  version: number;
  runs: (number | null)[]; // null: no such run
  tags: string[];
  cells: (Cell | null)[][]; // by tag, then by run
}
export interface Smoothing {
  kind: SmoothKind;
  weight?: number; // of ema and time_ema
  points?: number; // of the others
}
export interface Compare {
  run: number; // the baseline
  kind: CompareKind;
}
export interface SeriesAsk {
  run: number;
  tag: string;
  epoch?: number; // what the client has
  n?: number;
}
export interface ScalarsAsk {
  x: XAxis;
  width: number; // pixels; 0: all points
  range?: [number, number];
  near?: number; // for a log axis: pixels are equal in log(1 + |x| / near)
  smoothing: Smoothing;
  superseded?: boolean;
  columns?: Column[]; // absent: all
  compare?: Compare | null;
  series: SeriesAsk[];
}
export interface MeasureAsk {
  x: XAxis;
  from: number;
  to?: number | null; // absent: a single place
  smoothing: Smoothing;
  compare?: Compare | null;
  series: SeriesAsk[];
}
export interface MeasurePoint {
  step: Num;
  wall: Num;
  value: Num;
  smooth: Num;
}
/** What a line does between two places. */
export interface Measure {
  run: number;
  tag: string;
  n: number; // points from start to end
  start: MeasurePoint;
  end: MeasurePoint;
  min: MeasurePoint | null; // null, as those below: no value is finite
  max: MeasurePoint | null;
  mean: Num | null;
  minSmooth: MeasurePoint | null;
  maxSmooth: MeasurePoint | null;
  meanSmooth: Num | null;
}
export interface Measures {
  version: number;
  series: (Measure | null)[]; // in the order asked
}
export interface GroupAsk {
  key: string;
  series: SeriesAsk[];
}
export interface BandsAsk {
  x: XAxis;
  width: number;
  range?: [number, number];
  near?: number; // as in ScalarsAsk
  smoothing: Smoothing;
  center: 'mean' | 'median';
  spread: 'std' | 'ci95' | 'minmax';
  compare?: Compare | null;
  groups: GroupAsk[];
}
export interface HistogramsAsk {
  series: SeriesAsk[];
  maxSteps?: number;
  range?: [number, number];
  mode?: 'histogram' | 'distribution';
  superseded?: boolean;
}
/** Histograms on a common grid. */
export interface GridsAsk {
  series: SeriesAsk[]; // those of one tag share a grid
  steps: number; // at most so many of each
  bins: number; // 0: percentiles only
  x?: 'step' | 'relative' | 'wall'; // the order of the steps, and what range is of
  range?: [number, number];
  at?: number; // a step that is to be among them, or the one nearest to it
  scale?: 'linear' | 'log'; // of the values
  values?: 'most' | 'all' | [number, number]; // which values the bins cover; most: a step far from the others does not count
  superseded?: boolean;
}
export interface HistogramPoint {
  step: Num;
  wall: Num;
  rows?: [Num, Num, Num][]; // left, right, count
  percentiles?: [number, Num][]; // basis points, value
  error?: string; // in place of its data
}
export interface HistogramSeries {
  run: number;
  tag: string;
  epoch?: number;
  total?: number;
  points?: HistogramPoint[];
  error?: string; // in place of its points
}
export interface Histograms {
  version: number;
  series: HistogramSeries[];
}
export interface Formula {
  tex: string;
  display: boolean; // on a line of its own
}
export interface TextPoint {
  step: Num;
  wall: Num;
  html?: string;
  maths?: Formula[]; // those whose marks are in `html`: U+E000, its index, U+E001
  strings?: string[]; // as they were logged, where that was asked for
  bytes?: number; // of all of it, where `html` or `strings` are only the beginning
  dims?: number[]; // the shape, of texts that are no single string
  badBytes?: number; // that are no UTF-8 and shown as U+FFFD
  error?: string; // in place of its text
}
export interface Texts {
  version: number;
  total: number;
  from: number; // index of the first of these points; 0 is the newest
  points: TextPoint[]; // newest first
}
export interface TextSearchAsk {
  text: string; // what is looked for
  regex?: boolean; // it is an expression
  case?: boolean; // capital and small letters differ
  runs?: number[]; // only these
  max?: number; // texts that are found, 200 at most
  skip?: number; // `next` of the reply before
}
/** One text, and the first place in it. */
export interface TextFound {
  run: number;
  tag: string;
  step: Num;
  wall: Num;
  count: number; // how often it occurs, 10 000 at most
  before: string;
  match: string;
  after: string;
}
export interface TextSearch {
  version: number;
  found: TextFound[]; // by run and tag, newest first
  total: number; // texts that there are
  searched: number; // texts that were looked through now
  hits: number; // how often it occurs in those that were found
  next?: number; // there is more: `skip` of the next request
}
export interface MediaPoint {
  step: Num;
  wall: Num;
  type?: string; // these three: of images, of the first one at the step as its header has it
  width?: number; // 0: unknown
  height?: number;
  blobs: string[]; // paths below api/v1/
}
export interface Media {
  version: number;
  samples: number;
  points: MediaPoint[];
}
/** Of the first clip of the step, as its header claims. */
export interface Clip {
  step: Num;
  wall: Num;
  type: string; // content type, sniffed
  bytes: number;
  rate?: number; // frames a second; only of a WAV file whose header can be trusted, as what follows
  channels?: number;
  frames?: number; // that are really there
  blobs: string[]; // paths below api/v1/, one for each clip of the step
}
export interface Clips {
  version: number;
  epoch: number; // of the run
  samples: number; // the most clips of a step
  total: number; // steps that have the wanted clip
  from: number; // index of the first of these points; 0 is the oldest
  points: Clip[]; // steps ascend
}
/** Either a picture and measures, or `trouble`. */
export interface ClipPicture {
  trouble?: 'format' | 'packed' | 'header' | 'long'; // why there is no picture: no WAV file, packed samples, a header that cannot be right, too long
  message?: string; // the same as a sentence
  seconds?: number;
  rate?: number; // frames a second
  channels?: number;
  bits?: number; // of a sample
  isFloat?: boolean;
  isCut?: boolean; // the header promises more samples than there are
  peak?: number; // greatest magnitude of a sample; 1 is full scale
  rms?: number;
  loudness?: Num; // LUFS; -Infinity for silence
  clipped?: number; // samples at full scale that follow another such
  notFinite?: number; // samples that are NaN or infinite
  columns?: number;
  rows?: number;
  low?: string; // least sample of each column: base64 of a byte each, 0..255 for -1..1
  high?: string; // greatest sample of each column
  spectrum?: string; // rows of columns, highest frequency first: base64 of a byte each, 0..255 for -120..0 dB
}
/** A series that is a graph, or measurements for one. */
export interface GraphEntry {
  run: number;
  tag: string;
  kind: 'run' | 'trace' | 'keras' | 'stats'; // what was logged: the run's graph, traced functions, a Keras model, step statistics only
  hasStats: boolean; // holds step statistics: may be given as `stats`
  bytes: number; // as it was logged; large ones are read by a background job first
}
export interface Graphs {
  version: number;
  graphs: GraphEntry[];
}
/** Which graph: of a run and tag, or a file that was sent to graph/file. */
export interface GraphRef {
  run?: number;
  tag?: string;
  file?: string;
}
/** A graph with what is laid over it. */
export interface GraphSource {
  graph: GraphRef;
  stats?: string; // tag of step statistics of the same run
  skip?: string[]; // devices whose measurements don't count
  other?: GraphRef; // the graph that it is compared with
}
export interface GraphDrawAsk {
  source: GraphSource;
  open: string[]; // names of open boxes
  reveal?: string[]; // boxes whose scopes are to be open too
  auto?: boolean; // opens what there is nothing beside
  ungrouped?: string[]; // series whose members stand in their parent
  main?: string[]; // boxes that are never auxiliary
  side?: string[]; // boxes that always are
  extract?: boolean; // boxes with many neighbours become auxiliary
  constants?: boolean; // are drawn like other operations
  trace?: string; // marks what feeds this box
  path?: [string, string]; // marks the way between two boxes
}
/** Columns, an item for each box in sight; a box comes after the one it stands in. */
export interface GraphBoxes {
  name: string[]; // whole
  label: number[]; // where the last part of the name begins, in letters of JavaScript
  kind: number[]; // 0 scope, 1 operation, 2 series, 3 call of a function, 4 part of a box with very many
  level: number[]; // the box that it stands in; -1: none
  flags: number[]; // 1 open, 2 auxiliary, 4 marked, 8 a constant
  x: number[];
  y: number[];
  w: number[];
  h: number[];
  op: number[]; // in texts; -1: none
  device: number[]; // in texts; -1: unknown or several
  shape: number[]; // of its first output, in texts; -1: unknown
  cluster: number[]; // XLA cluster, in texts; -1: none
  children: number[];
  ops: number[]; // operations in it
  params: number[];
  unsized: number[]; // parameters whose size the graph does not tell
  time: number[]; // microseconds; -1: not measured
  bytes: number[]; // -1: not measured
  incompatible: number[]; // operations that a TPU can't run
  structure: number[]; // equal for boxes of equal structure
  side: number[]; // of a difference: 0 same, 1 changed, 2 only in the graph, 3 only in the other
  constants: number[]; // that feed it and are not drawn
  uses: number[]; // boxes that it is connected with
}
/** Columns, an item for each line. */
export interface GraphLines {
  from: number[]; // box
  to: number[]; // box
  level: number[]; // the open box that it is in; -1: none
  flags: number[]; // 1 control only, 2 marked, 4 closes a cycle, 8 begins at a border, 16 ends at a border, 32 a reference
  count: number[]; // edges
  size: number[]; // elements of the largest tensor; -1: unknown
  shape: number[]; // of that tensor, in texts; -1: unknown
  points: number[]; // how many; they follow one another
}
/** Something odd about a graph. */
export interface GraphOdd {
  kind: string;
  n: number;
  examples: string[];
}
export interface GraphTotals {
  ops: number; // nodes of the graph
  edges: number;
  boxes: number; // operations and scopes, functions at their calls included
  params: number;
  unsized: number;
  time: number; // microseconds; -1: not measured
  bytes: number;
  incompatible: number;
  producer: number; // version of the graph; 0: of no TensorFlow
  marked: number; // operations of the trace or the path
  renamed: number; // of a difference: layers of Keras that were matched though the counters in their names differ
}
export interface GraphDrawing {
  version: number;
  w: number;
  h: number;
  texts: string[];
  boxes: GraphBoxes;
  lines: GraphLines;
  points: number[]; // x and y in turn
  totals: GraphTotals;
  odds: GraphOdd[];
  devices: string[]; // that have measurements, also those that are skipped
  format: '' | 'GraphDef' | 'GraphDef as text' | 'MetaGraphDef' | 'SavedModel' | 'ONNX' | 'Keras model'; // of a file; empty otherwise
  trouble: '' | 'cut' | 'syntax'; // why only a part of a file could be read: it ends too early, or it is text that can't be parsed from some place on
  problem: string; // the same as the parser says it; empty otherwise
  fault?: TextFault; // the same for the page, where it is `syntax`
  isLarge?: boolean; // nothing is drawn, since that takes longer than a request may: a job of the kind graph with the same body as arguments has the drawing as its result
}
export interface GraphNodeAsk {
  source: GraphSource;
  name: string;
}
export interface GraphAttr {
  key: string;
  value: string; // as protobuf text, without what says its type
}
/** An input or an output. */
export interface GraphLink {
  name: string;
  op: string;
  slot: number; // of the one that gives; -1: control
  shape: string; // empty: unknown
}
export interface GraphCount {
  name: string;
  n: number;
}
/** A tensor that an operation gave while it was measured. */
export interface GraphOutput {
  slot: number;
  shape: string;
  bytes: number;
}
export interface GraphFunction {
  name: string;
  users: string[]; // other boxes that use it, the first of them
  userCount: number;
}
/** As measured. */
export interface GraphStats {
  device: string;
  start: number; // microseconds since 1970
  time: number; // microseconds
  memory: GraphCount[]; // bytes by allocator
  outputs: GraphOutput[];
}
export interface GraphNode {
  version: number;
  name: string;
  otherName?: string; // of a difference: its name in the other graph, where Keras counted on
  kind: number; // as in GraphBoxes
  op: string;
  device: string;
  parents: string[]; // from the root downwards
  children: number;
  ops: number;
  params: number;
  unsized: number;
  time: number; // -1: not measured
  bytes: number;
  incompatible: string[]; // operations that a TPU can't run, at most 100
  side: number;
  shapes: string[]; // of its outputs; empty where unknown
  attrs: GraphAttr[];
  inputs: GraphLink[]; // at most 200; of a scope those from outside
  inputCount: number;
  outputs: GraphLink[];
  outputCount: number;
  opCounts: GraphCount[]; // of a scope: operations by kind, the most first
  deviceCounts: GraphCount[];
  alike: string[]; // other boxes of equal structure, at most 50
  alikeCount: number;
  functions: GraphFunction[]; // that it calls or its attributes name
  stats?: GraphStats;
}
export interface GraphFindAsk {
  source: GraphSource;
  query: string;
  regex?: boolean; // else letters, whatever their case
  from?: number;
  count?: number; // at most 1000
}
export interface GraphHit {
  name: string;
  kind: number;
  op: string;
}
export interface GraphFound {
  version: number;
  total: number;
  from: number;
  hits: GraphHit[]; // in the order of the graph
}
export interface GraphPathAsk {
  source: GraphSource;
  from: string;
  to: string;
}
export interface GraphPath {
  version: number;
  names: string[]; // operations of the shortest way; none: there is no way
  direction: 'forward' | 'backward' | 'none'; // backward: from the second to the first; none: edges of both directions
}
export interface MediaAsk {
  series: SeriesAsk[];
}
/** What a picture is, from its bytes. */
export interface Picture {
  version: number;
  type: string;
  bytes: number;
  width: number; // as its header claims it; 0: unknown
  height: number;
  frames: number; // of an animation; 1 otherwise
  delays: number[]; // milliseconds, of the first frames
  trouble?: 'damaged' | 'large' | 'format' | 'slow' | 'memory'; // why it cannot be decoded: damaged, too many pixels, a kind that is not decoded here, it takes too long, no memory
  problem?: string; // the same, as the decoder says it
}
/** How far two pictures of one size are apart. */
export interface Comparison {
  version: number;
  width: number;
  height: number;
  psnr: Num; // decibels; infinite for equal pictures
  ssim: number;
  mean: number; // mean of the absolute differences, 0 to 255
  largest: number;
  share: number; // of pixels that differ by more than 8 in a channel
}
/** One picture of a log. */
export interface PictureRef {
  run: number;
  tag: string;
  at: string; // OFFSET-CRC, as in lists of images
  sample: number;
  label: string; // below the picture
}
export interface SheetRow {
  label: string;
  cells: (PictureRef | null)[]; // null: an empty place
}
/** A contact sheet. */
export interface SheetAsk {
  title: string;
  size: number; // of a picture, 16 to 1024 pixels
  rows: SheetRow[];
}
/** A file of a capture: a host or a rank. */
export interface ProfileSource {
  name: string;
  rank: number | null; // known once it was opened
  span: number; // of torch: 1, 2, 3... of this worker
  bytes: number;
  file: string; // below the log directory
}
export interface ProfileSummary {
  stepPs: number; // the median; 0: there are no steps
  busy: number; // 0 to 1 of the device's time; -1: no device
  odd: number; // kinds of things that were odd
  read: number; // 0 to 1: how much of the files could be read
}
export interface ProfileCapture {
  id: string; // 16 digits, the same while its files stay where they are
  epoch: string; // changes when its files change
  run: string;
  name: string; // the session, or the worker
  time: number | null; // Unix seconds
  format: ProfileFormat;
  sources: ProfileSource[];
  bytes: number; // on disk
  state: 'closed' | 'waiting' | 'parsing' | 'open' | 'failed';
  done: number; // bytes, while it is parsed
  total: number;
  job: number; // that parses it; 0: none
  error: string; // why it failed
  trouble?: 'format' | 'empty' | 'damaged' | 'gone' | 'memory' | 'unreadable'; // if it failed: the reason in a word
  summary?: ProfileSummary; // once it was opened
}
export interface ProfileCaptures {
  version: number;
  scanning: boolean; // the first walk of the log directory is not over
  captures: ProfileCapture[]; // by run, the newest first
}
export interface ProfileOpenAsk {
  capture: string;
}
export interface ProfileOpened {
  version: number;
  capture: ProfileCapture;
}
export interface ProfileFile {
  name: string;
  rank: number | null;
  format: ProfileFormat;
  bytes: number;
  skewPs: number; // that its clock was moved by
}
export interface ProfileGroup {
  id: number;
  parent: number; // -1: none
  name: string;
  kind: 'host' | 'rank' | 'process' | 'device';
  source: number; // index into sources
  busy: number; // 0 to 1 of the capture, of its busiest track
  slices: number;
}
export interface ProfileTrack {
  id: number;
  group: number;
  name: string;
  kind: 'thread' | 'stream' | 'counter' | 'async' | 'derived' | 'steps';
  depth: number; // lanes
  slices: number; // or points of a counter
  instants: number; // slices without a duration
  busy: number; // 0 to 1 of the capture
  startPs: number;
  endPs: number;
  least: number; // of a counter
  greatest: number;
}
export interface ProfileOdd {
  kind: 'cut_file' | 'unread_file' | 'cut_gzip' | 'bad_json' | 'bad_message' | 'negative_duration' | 'missing_end' | 'missing_begin' | 'crossing' | 'unknown_phase' | 'too_many_tracks' | 'too_deep' | 'far_time' | 'clock_skew' | 'reused_id' | 'no_position' | 'capture_error' | 'capture_warning' | 'long_name' | 'empty_device' | 'self_below_zero';
  n: number;
  examples: string[]; // at most five
  text: string; // in English
  remark: boolean; // nothing is missing and nothing was changed
}
export interface ProfileStep {
  name: string;
  number: number;
  source: number;
  track: number;
  index: number;
  startPs: number;
  durationPs: number; // until what it launched has ended
}
export interface ProfileSteps {
  rule: ProfileStepRule; // by which they were found
  name: string; // of rules that go by a name
  count: number;
  items: ProfileStep[]; // at most 10 000
}
export interface ProfileTracks {
  version: number;
  epoch: string;
  baseNs: string; // Unix nanoseconds of time 0; empty: unknown
  durationPs: number;
  names: number; // how many there are
  slices: number;
  sources: ProfileFile[];
  groups: ProfileGroup[];
  tracks: ProfileTrack[]; // in the order in which they are shown
  odd: ProfileOdd[];
  steps: ProfileSteps;
}
export interface ProfileNames {
  version: number;
  epoch: string;
  from: number;
  total: number;
  names: string[]; // of the ids from..., at most 16 384
}
export interface ProfileWindowAsk {
  capture: string;
  tracks: number[];
  from: number; // picoseconds
  to: number;
  pixels: number; // at most 16 384
}
export interface ProfileSliceRef {
  track: number;
  index: number;
  name: string;
  kind: number;
  startPs: number;
  durationPs: number;
  depth: number;
}
export interface ProfileFlow {
  direction: 'in' | 'out';
  kind: 'launch' | 'forward_backward' | 'flow';
  other: ProfileSliceRef;
}
export interface ProfileSlice {
  version: number;
  epoch: string;
  track: number;
  index: number;
  name: string;
  kind: number;
  category: string; // as in the file
  startPs: number;
  durationPs: number;
  selfPs: number;
  depth: number;
  args: Record<string, unknown>; // as in the file; whole numbers beyond 2^53 are texts
  parents: ProfileSliceRef[]; // the outermost first
  children: number;
  flows: ProfileFlow[];
  step: string;
}
export interface ProfileFlowsAsk {
  capture: string;
  tracks?: number[];
  from?: number;
  to?: number;
  limit?: number; // 1000 without it
}
export interface ProfileFlows {
  version: number;
  epoch: string;
  flows: number[][]; // track, index, start, depth of one end, then of the other, then the kind: 0 launch, 1 forward to backward, 2 other
  total: number;
}
export interface ProfileTotalsAsk {
  capture: string;
  tracks?: number[]; // absent: all threads and streams
  from?: number;
  to?: number;
  by?: 'name' | 'kind' | 'track' | 'group';
  find?: string; // part of a name
  sort?: 'total' | 'self' | 'count' | 'mean' | 'max' | 'name';
  offset?: number;
  limit?: number;
  csv?: boolean; // all rows as CSV
}
export interface ProfileTotal {
  id: number; // of a name, a kind, a track or a group
  name: string;
  kind: number;
  count: number;
  totalPs: number; // inside the range
  selfPs: number;
  minPs: number; // of whole slices
  maxPs: number;
  durations: number[]; // how many: below 1, 3, 10, 30, 100, 300 us, 1, 3, 10, 100 ms, 1 s, longer
}
export interface ProfileTotals {
  version: number;
  epoch: string;
  slices: number;
  tracks: number;
  rows: number; // of all, before offset and limit
  totalPs: number; // of the outermost slices
  items: ProfileTotal[];
}
export interface ProfileFound {
  version: number;
  epoch: string;
  names: number[][]; // name id, count, total; at most 1000
  total: number;
  items: ProfileSliceRef[]; // in order of time
}
export interface ProfilePart {
  kind: ProfilePartKind;
  ps: number;
  share: number; // 0 to 1
}
export interface ProfileStepCost {
  name: string;
  number: number;
  source: number;
  track: number;
  index: number;
  startPs: number;
  durationPs: number; // until what it launched has ended
  parts: ProfilePart[];
}
export interface ProfileStepCosts {
  rule: ProfileStepRule;
  name: string;
  count: number;
  items: ProfileStepCost[]; // at most 2000
}
export interface ProfileStepStats {
  medianPs: number;
  p95Ps: number;
  worstPs: number;
  meanPs: number;
  deviationPs: number;
}
export interface ProfileDevice {
  source: number;
  name: string;
  capability: string;
  memoryBytes: number;
  multiprocessors: number;
  used: boolean; // something ran on it
}
export interface ProfileIdle {
  source: number;
  name: string;
  spanPs: number;
  busyPs: number;
  parts: ProfilePart[]; // what the host did meanwhile
}
export interface ProfileCommunication {
  totalPs: number;
  exposedPs: number; // that nothing hides
}
export interface ProfilePeak {
  device: string;
  peakBytes: number;
  atPs: number;
  capacityBytes: number; // 0: unknown
}
export interface ProfileVerdict {
  kind: ProfilePartKind | 'none';
  share: number; // of a step
}
export interface ProfileAdvice {
  id: 'input' | 'communication' | 'launch' | 'copies' | 'sync' | 'compile' | 'idle' | 'straggler' | 'memory' | 'tensor_cores' | 'no_steps';
  savesPs: number; // a step; 0: unknown
  share: number; // of a step
  value: number; // the figure of the text
  name: string; // what it is about
  text: string; // in English
  count: number; // of the slices that it was concluded from; the search by `advice` has them all
  slices: ProfileSliceRef[]; // the longest, at most 20
}
export interface ProfileOp {
  id: number; // name id
  name: string;
  kind: number;
  shape: string;
  calls: number;
  hostTotalPs: number;
  hostSelfPs: number;
  deviceTotalPs: number;
  deviceSelfPs: number;
  tensorCores: 'yes' | 'no' | 'eligible' | ''; // a guess from names
  track: number; // the longest call
  index: number;
}
export interface ProfileOverview {
  version: number;
  epoch: string;
  hasDevice: boolean;
  deviceBusy: number; // 0 to 1; -1: no device
  hostBusy: number; // 0 to 1, waits for the device are not counted; -1: unknown
  verdict: ProfileVerdict;
  steps: ProfileStepCosts;
  stats: ProfileStepStats;
  median: ProfilePart[]; // of a median step
  devices: ProfileDevice[];
  facts: string[][]; // pairs of name and value
  idle: ProfileIdle[];
  communication: ProfileCommunication;
  top: ProfileOp[]; // ten, by self time
  memory: ProfilePeak | null;
  advice: ProfileAdvice[]; // by what it saves
}
export interface ProfileOps {
  version: number;
  epoch: string;
  rows: number;
  hostPs: number; // sum of self times
  devicePs: number;
  items: ProfileOp[];
}
export interface ProfileKernel {
  id: number;
  name: string;
  kind: number;
  op: string;
  calls: number;
  totalPs: number;
  meanPs: number;
  minPs: number;
  maxPs: number;
  occupancy: number;
  blocksPerSm: number;
  tensorCores: 'yes' | 'no' | ''; // a guess from names
  track: number; // the longest one
  index: number;
  args: Record<string, unknown>; // of the longest one: grid, block, registers
}
export interface ProfileKernels {
  version: number;
  epoch: string;
  rows: number;
  totalPs: number;
  items: ProfileKernel[]; // at most 500
}
export interface ProfileMemoryDevice {
  id: number;
  name: string;
  source: number;
  peakBytes: number;
  events: number;
}
export interface ProfileMemoryRow {
  name: string; // of the operator around it
  allocations: number;
  bytes: number;
  freedBytes: number;
  peakBytes: number; // held at the peak
  peakCount: number;
}
export interface ProfileMemory {
  version: number;
  epoch: string;
  devices: ProfileMemoryDevice[];
  device: number; // -1: none
  times: number[]; // at most 2000; the greatest of each stretch
  allocated: number[];
  reserved: number[]; // -1: unknown
  peakBytes: number;
  peakPs: number;
  byOp: ProfileMemoryRow[];
}
export interface ProfileInputPart {
  name: 'read' | 'preprocess' | 'enqueue' | 'wait' | 'other';
  ps: number;
}
export interface ProfileInputStage {
  name: string;
  calls: number;
  totalPs: number;
  selfPs: number;
  maxPs: number;
  slow: number; // calls over 50 us
}
export interface ProfileInput {
  version: number;
  epoch: string;
  verdict: 'unknown' | 'low' | 'moderate' | 'high';
  share: number; // of a median step; -1: there are no steps
  perStep: number[];
  parts: ProfileInputPart[];
  stages: ProfileInputStage[];
}
export interface ProfileModule {
  name: string;
  parent: number; // row; -1: none
  depth: number;
  calls: number;
  operators: number;
  hostTotalPs: number;
  hostSelfPs: number;
  deviceTotalPs: number;
  deviceSelfPs: number;
}
export interface ProfileModules {
  version: number;
  epoch: string;
  rows: number;
  items: ProfileModule[]; // in tree order
}
export interface ProfileRank {
  source: number;
  name: string;
  rank: number | null;
  backend: string;
  spanPs: number;
  computePs: number; // without what overlaps
  overlapPs: number;
  communicationPs: number; // that nothing hides
  otherPs: number;
  waitPs: number; // for others, inside collectives
  skewPs: number;
}
export interface ProfileCollective {
  name: string;
  calls: number;
  bytes: number;
  transferPs: number;
  maxPs: number;
  waitPs: number[]; // by rank
}
/** Collectives that begin with waiting for other ranks. */
export interface ProfileWaits {
  version: number;
  epoch: string;
  total: number;
  waits: number[][]; // track, depth, startPs, waitPs, and the source that joined last; at most 5000
}
export interface ProfilePathRow {
  name: string; // empty where no slice is on the path
  kind: number;
  state: ProfilePathState;
  device: boolean; // on a stream of a device
  pieces: number;
  ps: number;
  share: number; // of the step
  track: number; // of the longest piece
  index: number; // of the longest piece; -1: no slice
}
/** What bounds the length of a step. */
export interface ProfilePath {
  version: number;
  epoch: string;
  step: number; // its place among the steps; -1: there are none
  name: string;
  source: number;
  startPs: number;
  durationPs: number;
  linked: boolean; // the file says what launched the work of the device, or there is no device
  launches: number; // links of the path from a launch to what it launched
  waits: number; // from the device to a call that waited for it
  arrows: number; // by other arrows of the file
  guesses: number; // that the file does not have: by who ended last
  rows: number;
  items: ProfilePathRow[]; // by name, the longest first; at most 200
  total: number;
  pieces: number[][]; // in order of time, at most 20 000: track, depth, startPs, durationPs, state, and 1 where the link to it is a guess
}
export interface ProfileDistributed {
  version: number;
  epoch: string;
  ranks: ProfileRank[];
  collectives: ProfileCollective[];
  straggler: number; // row of ranks; -1: none
}
export interface ProfileDifferencePart {
  kind: ProfilePartKind;
  ps: number;
}
export interface ProfileDifferenceSide {
  stepPs: number;
  steps: number;
  parts: ProfileDifferencePart[];
}
export interface ProfileDifferenceRow {
  name: string;
  kind: number;
  callsA: number;
  callsB: number;
  totalA: number;
  totalB: number;
  delta: number;
}
export interface ProfileDifference {
  version: number;
  epoch: string;
  a: ProfileDifferenceSide;
  b: ProfileDifferenceSide;
  perStep: boolean;
  rows: number;
  items: ProfileDifferenceRow[]; // the largest difference first
}
/** Which points; all of them where nothing is said. */
export interface ExportArgs {
  runs?: string[]; // names
  tags?: string[];
  format?: 'csv' | 'json';
  superseded?: boolean;
}
/** An open capture as a Chrome trace. */
export interface ProfileTraceArgs {
  capture: string;
  from?: number; // picoseconds
  to?: number;
}
export interface JobAsk {
  kind: 'export' | 'graph' | 'profile' | 'profile_trace';
  args: ExportArgs | GraphDrawAsk | ProfileOpenAsk | ProfileTraceArgs;
}
/** Work that takes longer than a request. */
export interface Job {
  id: number;
  kind: string;
  state: 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';
  done: number; // how much of total; the unit is that of the kind
  total: number; // 0: unknown
  bytes: number; // of the result so far
  error?: string; // why it failed
  code?: string; // a word for that reason, where the kind of the job has some
  fault?: TextFault; // of a graph as text
}
export interface JobReply {
  version: number;
  job: Job;
}
export interface JobCancelled {
  version: number;
}
export interface Jobs {
  version: number;
  instance: string;
  jobs: Job[]; // the newest first
}
/** What people noted. */
export interface People {
  version: number;
  revision: number;
  persistent: boolean;
  hint: string;
  items: StateItems;
}
export interface StateChange {
  revision: number; // the one that was seen
  items: StateItems; // null removes
}
export interface StateChanged {
  version: number;
  revision: number;
}

/** What each route takes and gives; Bytes are not JSON. */
export interface Routes {
  'GET status': { reply: Status };
  'GET runs': { reply: Runs };
  'GET tags': { reply: Tags };
  'GET changes': { reply: Changes };
  'POST summaries': { ask: SummariesAsk; reply: Summaries };
  'POST scalars': { ask: ScalarsAsk; reply: ArrayBuffer };
  'POST measure': { ask: MeasureAsk; reply: Measures };
  'POST bands': { ask: BandsAsk; reply: ArrayBuffer };
  'POST histograms': { ask: HistogramsAsk; reply: Histograms };
  'POST histograms/grids': { ask: GridsAsk; reply: ArrayBuffer };
  'GET histograms/export': { reply: ArrayBuffer };
  'GET text': { reply: Texts };
  'POST text/search': { ask: TextSearchAsk; reply: TextSearch };
  'GET text/export': { reply: ArrayBuffer };
  'GET images': { reply: Media };
  'GET audio': { reply: Clips };
  'GET audio/picture': { reply: ClipPicture };
  'POST images': { ask: MediaAsk; reply: ArrayBuffer };
  'POST audio': { ask: MediaAsk; reply: ArrayBuffer };
  'GET picture': { reply: Picture };
  'GET thumbnail': { reply: ArrayBuffer };
  'GET compare': { reply: Comparison };
  'GET difference': { reply: ArrayBuffer };
  'POST sheet': { ask: SheetAsk; reply: ArrayBuffer };
  'GET graphs': { reply: Graphs };
  'POST graph/draw': { ask: GraphDrawAsk; reply: GraphDrawing };
  'POST graph/node': { ask: GraphNodeAsk; reply: GraphNode };
  'POST graph/find': { ask: GraphFindAsk; reply: GraphFound };
  'POST graph/path': { ask: GraphPathAsk; reply: GraphPath };
  'GET profile/captures': { reply: ProfileCaptures };
  'POST profile/open': { ask: ProfileOpenAsk; reply: ProfileOpened };
  'GET profile/tracks': { reply: ProfileTracks };
  'GET profile/names': { reply: ProfileNames };
  'POST profile/slices': { ask: ProfileWindowAsk; reply: ArrayBuffer };
  'POST profile/counters': { ask: ProfileWindowAsk; reply: ArrayBuffer };
  'GET profile/slice': { reply: ProfileSlice };
  'POST profile/flows': { ask: ProfileFlowsAsk; reply: ProfileFlows };
  'POST profile/totals': { ask: ProfileTotalsAsk; reply: ProfileTotals };
  'GET profile/search': { reply: ProfileFound };
  'GET profile/overview': { reply: ProfileOverview };
  'GET profile/operators': { reply: ProfileOps };
  'GET profile/kernels': { reply: ProfileKernels };
  'GET profile/memory': { reply: ProfileMemory };
  'GET profile/input': { reply: ProfileInput };
  'GET profile/modules': { reply: ProfileModules };
  'GET profile/distributed': { reply: ProfileDistributed };
  'GET profile/difference': { reply: ProfileDifference };
  'GET profile/path': { reply: ProfilePath };
  'GET profile/waits': { reply: ProfileWaits };
  'GET profile/csv': { reply: ArrayBuffer };
  'GET blob': { reply: ArrayBuffer };
  'GET export': { reply: ArrayBuffer };
  'GET jobs': { reply: Jobs };
  'POST jobs': { ask: JobAsk; reply: JobReply };
  'GET job': { reply: JobReply };
  'DELETE job': { reply: JobCancelled };
  'GET job/result': { reply: ArrayBuffer };
  'GET state': { reply: People };
  'PATCH state': { ask: StateChange; reply: StateChanged };
}
export type Reply<R extends keyof Routes> = Routes[R]['reply'];

/** A number that may have come as "NaN" or "-Infinity"; NaN where there is none. */
export const toNumber = (v: Num | undefined): number => (typeof v === 'number' ? v : Number(v));

// ---- binary replies: where each field of an entry is, and what its flags mean; others are in layouts.ts ----

export const SCALAR_MAGIC = 'SBC1';
export const SCALAR_BYTES = 96;
export const SCALAR_AT = {
  run: 0,
  flags: 4,
  epoch: 8,
  n: 16,
  points: 24,
  bad: 28,
  step: 32,
  wall: 36,
  value: 40,
  smooth: 44,
  flagsOf: 48,
  attempts: 52,
  firstWall: 56,
  inRange: 64,
  firstStep: 72,
  x: 80,
  plus: 84,
  minus: 88,
} as const;
/** Not found. */
export const NOT_FOUND = 1;
/** Unchanged. */
export const UNCHANGED = 2;
/** Append. */
export const APPEND = 4;
/** X is not rising (draw as separate strokes at falls). */
export const NOT_RISING = 8;
/** The run was restarted. */
export const RESTARTED = 16;
/** Integers. */
export const INTEGERS = 32;
/** No baseline. */
export const NO_BASELINE = 64;
/** The run has no such metric for x. */
export const NO_X = 128;
/** Too many points to be smoothed: there is no `smooth` column. */
export const UNSMOOTHED = 256;

export const BAND_MAGIC = 'SBB1';
export const BAND_BYTES = 40;
export const BAND_AT = {
  group: 0,
  flags: 4,
  points: 8,
  members: 12,
  x: 16,
  centre: 20,
  low: 24,
  high: 28,
  count: 32,
  inner: 36,
} as const;
/** Every x that occurs is there; else x are the middles of pixels. */
export const EXACT = 1;
/** Nothing to compare with. */
export const UNCOMPARED = 2;
/** A member has too many points to be smoothed and counts as logged. */
export const MEMBER_UNSMOOTHED = 4;

/** Flags of one point. */
export const POINT = {
  /** Superseded. */
  SUPERSEDED: 1,
  /** Least of its pixel. */
  LEAST: 2,
  /** Greatest of its pixel. */
  GREATEST: 4,
  /** Not finite. */
  NOT_FINITE: 8,
} as const;

export interface Series {
  run: number; // run id
  flags: number; // flags
  epoch: number; // epoch of the series
  n: number; // points of the series that are visible now (before decimation)
  points: number; // points that follow
  bad: number; // NaN and infinite points among all in range
  step: Float64Array | null; // column `step`
  wall: Float64Array | null; // column `wall`
  value: Float64Array | null; // column `value`
  smooth: Float64Array | null; // column `smooth`
  flagsOf: Uint8Array | null; // column `flags`
  attempts: number; // attempts
  firstWall: number; // the series' first wall time (for relative x)
  inRange: number; // points in range
  firstStep: number; // the series' first visible step (for relative steps)
  x: Float64Array | null; // column `x`, where it is another metric
  plus: number; // of the points that are not finite, those that are plus infinity
  minus: number; // those that are minus infinity
}
export interface Band {
  group: number; // group index
  flags: number; // flags
  points: number; // points that follow
  members: number; // series that took part
  x: Float64Array; // column `x`
  centre: Float64Array; // column `centre`
  low: Float64Array; // column `low`
  high: Float64Array; // column `high`
  count: Float64Array; // column `count` (series that count at that x)
  inner: Float64Array; // column `inner`, twice as long: least, then greatest values of the series without those that are far from the rest; none for fewer than five series
}
export interface Grid {
  run: number; // run id
  flags: number; // flags
  epoch: number; // epoch of the series
  n: number; // steps of the series that are visible now
  inRange: number; // of these, steps in range
  steps: number; // steps that follow
  bins: number; // bins of each
  firstWall: number; // the series' first wall time (for relative x)
  near: number; // of a log axis of values: bins are equal in sign(v) log(1 + |v| / near); 0: they are equal in v
  least: number; // the least value of the steps that follow
  greatest: number; // their greatest value
  step: Float64Array; // column `step`
  wall: Float64Array; // column `wall`
  marks: Uint8Array; // column `marks`
  total: Float64Array; // column `total`: values that the histogram counts
  mean: Float64Array; // column `mean`
  deviation: Float64Array; // column `deviation`
  percentiles: Float64Array; // column `percentiles`, 9 a step: 0, 6.68, 15.87, 30.85, 50, 69.15, 84.13, 93.32, 100 %
  edges: Float64Array; // column `edges`, one more than bins
  shares: Float32Array; // column `shares`, bins a step: the part of the step's values in each bin
  below: Float32Array; // column `below`: the part of the step's values below the first bin
  above: Float32Array; // column `above`: the part above the last one
  ends: Float64Array; // column `ends`, 2 a step: the least and the greatest value
}
export interface MediaList {
  run: number; // run id
  flags: number; // flags
  epoch: number; // epoch of the series
  n: number; // points of the series that are visible now
  points: number; // points that follow
  samples: number; // the most pictures or clips that a step has
  step: Float64Array; // column `step`
  wall: Float64Array; // column `wall`
  offset: Float64Array; // column `offset` of the record in its file; the first half of `at`
  crc: Uint32Array; // column `crc` of the record; the second half of `at`
  count: Uint32Array; // column `count` of pictures or clips at the step
  bytes: Uint32Array; // column `bytes` of the first of them
  type: Uint8Array; // column `type` of it: an index into the list of media types, and 128 when the end of a picture is missing
  width: Uint32Array; // column `width` of a picture as its header claims it; 0: unknown
  height: Uint32Array; // column `height` of it
  rate: Uint32Array; // column `rate` of a clip, frames a second; 0: it is no WAV file that can be trusted
  frames: Uint32Array; // column `frames` of it that are really there
}
export interface TrackWindow {
  track: number; // track id
  flags: number; // flags
  slices: number; // slices of the window
  n: number; // rectangles that follow
  lanes: number; // lanes of the track
  start: Float64Array; // column `start`, picoseconds
  duration: Float64Array; // column `duration`, picoseconds; 0: an instant
  name: Uint32Array; // column `name` id; of several the longest one's
  index: Uint32Array; // column `index` in the track; of several the longest one's
  depth: Uint8Array; // column `depth`: the lane; 255 stands for all below too
  kind: Uint8Array; // column `kind`: the colour class
  count: Uint32Array; // column `count` of slices that it stands for
  busy: Float32Array; // column `busy`: the part of its time in which something runs
}
export interface CounterWindow {
  track: number; // track id
  flags: number; // flags
  points: number; // points of the window
  n: number; // bars that follow
  time: Float64Array; // column `time`, picoseconds
  low: Float64Array; // column `low`: the least value of the pixel
  high: Float64Array; // column `high`: its greatest value
  last: Float64Array; // column `last` value of it
}
