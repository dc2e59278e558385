// Makes the lines of a chart from series: the colour shows the run, the dash pattern shows the tag. Optionally, a run
// whose steps went back (for instance after a restart) has one line for each part.
import {
  isHeldOut,
  metricOf,
  NOT_RISING,
  runs,
  type Band,
  type Line,
  type Run,
  type Series,
  type X,
} from '../../public';
import { EMPTY, envelopeOf, strokesOf, xOf } from './series';

export interface Source {
  run: Run;
  tag: string;
  at: number; // index of the tag among the card's tags
}
export interface Look {
  x: X;
  smooth: boolean;
  envelope: boolean;
  tags: readonly string[];
  right: boolean; // all tags except the first use a second y axis at the right
  split: boolean; // if the steps of a run went back, each part is a line of its own
}

/** The dash patterns, by the index of the tag on its card. */
const DASHES: readonly number[][] = [[], [6, 3], [2, 3], [9, 3, 2, 3], [1, 4], [12, 4]];
export const dashOf = (at: number): number[] => DASHES[at % DASHES.length];

const OLDER_DASH = [3, 3];

/** First the line of each series, in order, then the lines of older parts of runs. */
export function seriesLines(series: readonly (Source & { data: Series })[], look: Look): Line[] {
  const lines: Line[] = [];
  const older: Line[] = [];
  for (const source of series) {
    const whole = lineOf(source, look);
    const strokes = look.split && source.data.step ? strokesOf(source.data.step) : [0];
    if (strokes.length < 2) {
      if (source.data.flags & NOT_RISING) whole.strokes = strokesOf(whole.x);
      lines.push(whole);
      continue;
    }
    strokes.forEach((from, k) => {
      const part = partOf(whole, from, strokes[k + 1] ?? whole.x.length, k + 1, look.x);
      if (k === strokes.length - 1) lines.push(part);
      else older.push({ ...part, faint: true, dash: OLDER_DASH, live: false });
    });
  }
  return [...lines, ...older];
}

export const keyOf = ({ run, tag }: Source, tags: readonly string[]): string =>
  tags.length > 1 ? `${run.name}\n${tag}` : run.name;

function lineOf(source: Source & { data: Series }, look: Look): Line {
  const { run, tag, at, data } = source;
  const smooth = look.smooth ? data.smooth : null;
  const x = xOf(look.x, data);
  const free = metricOf(look.x) !== null;
  const several = look.tags.length > 1;
  const isHeldOut = !several && runs.trainingOf(run) !== undefined;
  return {
    key: keyOf(source, look.tags),
    name: runs.nameOf(run),
    group: runs.colourBy === '' ? undefined : runs.keyOf(run, runs.colourBy),
    tag: several ? tag : undefined,
    colour: runs.colourOf(run),
    dash: dashOf(several ? at : isHeldOut ? 1 : 0),
    right: look.right && at > 0,
    x,
    y: smooth ?? data.value ?? EMPTY,
    raw: smooth ? data.value : null,
    envelope: smooth && look.envelope && !free ? envelopeOf(x, data.value, data.flagsOf) : null,
    step: data.step,
    wall: data.wall,
    firstWall: data.firstWall,
    live: run.state === 'running',
    free,
  };
}

/** The points `from` to `to` of a line. A relative x axis counts from the start of this part. */
function partOf(line: Line, from: number, to: number, number: number, axis: X): Line {
  const cut = (column: Float64Array | null) => column?.subarray(from, to) ?? null;
  const wall = cut(line.wall);
  const firstWall = wall && wall.length ? wall[0] : line.firstWall;
  const step = cut(line.step);
  let x = line.x.subarray(from, to);
  if (axis === 'relative' && wall) x = wall.map((w) => w - firstWall);
  if (axis === 'step_relative' && step) x = step.map((s) => s - step[0]);
  return {
    ...line,
    key: `${line.key}\n#${number}`,
    name: `${line.name} #${number}`,
    x,
    y: line.y.subarray(from, to),
    raw: cut(line.raw),
    envelope: null,
    step,
    wall,
    firstWall,
  };
}

/** The key of a band: a group of runs, for one of the card's tags. */
export const bandKey = (at: number, group: string): string => `${at}\n${group}`;
export function partsOfBand(key: string): { at: number; group: string } {
  const end = key.indexOf('\n');
  return { at: Number(key.slice(0, end)), group: key.slice(end + 1) };
}

/**
 * The line of a band. The colour shows the group and the dash pattern the tag; if there is only one tag, validation and
 * test groups are dashed.
 */
export function bandLine({ at, group }: { at: number; group: string }, band: Band, look: Look): Line {
  const several = look.tags.length > 1;
  return {
    key: `\n${bandKey(at, group)}`, // begins with a line break, so it differs from the keys of runs
    name: group,
    tag: several ? look.tags[at] : undefined,
    colour: runs.colourOfGroup(group),
    dash: dashOf(several ? at : isHeldOut(group) ? 1 : 0),
    right: look.right && at > 0,
    x: band.x,
    y: band.centre,
    raw: null,
    step: look.x === 'step' ? band.x : null,
    wall: null,
    firstWall: NaN,
    live: false,
    band: band.members > 1 ? { low: band.low, high: band.high, count: band.count, inner: band.inner } : null,
  };
}
