// The images or clips of one series: where the bytes of each are, and what the server found out when it read the log.
// Points are stored in the order of the log, in which they arrive; `order` has their indices sorted by step. If several
// points have the same step, only the first counts, as in TensorBoard. Pure functions.
import { MEDIA_TYPES, partitionPoint, type MediaList } from '../../public';

/** A flag in the column of types. */
const END_IS_MISSING = 128;

/** One picture or clip of a step: which bytes, and what is known of them. */
export interface Spot {
  run: number;
  tag: string;
  step: number;
  wall: number;
  at: string; // offset and checksum of the record in the log: they identify exactly these bytes
  sample: number;
  type: string;
  bytes: number;
  width: number; // of an image; 0 if unknown
  height: number;
  rate: number; // of a clip: sample rate in Hz; 0 if it is not a valid WAV file
  frames: number;
  isCut: boolean; // the file is truncated
}

export class Shelf {
  readonly order: Uint32Array;

  constructor(
    readonly tag: string,
    private readonly points: MediaList,
    order?: Uint32Array,
  ) {
    this.order = order ?? Shelf.bySteps(points);
  }

  private static bySteps(points: MediaList): Uint32Array {
    const { step } = points;
    const all = Uint32Array.from({ length: points.points }, (_, i) => i);
    let isRising = true;
    for (let i = 1; i < all.length && isRising; i++) isRising = step[i] > step[i - 1];
    if (!isRising) all.sort((a, b) => step[a] - step[b] || a - b);
    return isRising ? all : all.filter((at, i) => i === 0 || step[at] !== step[all[i - 1]]);
  }

  get raw(): MediaList {
    return this.points;
  }
  get total(): number {
    return this.order.length;
  }
  /** The greatest number of images or clips of a step. */
  get samples(): number {
    return this.points.samples;
  }
  get size(): number {
    return 200 + this.points.points * 53;
  }

  stepAt(index: number): number {
    return this.points.step[this.order[index]];
  }
  countAt(index: number): number {
    return this.points.count[this.order[index]];
  }

  /**
   * The index of the point that is nearest to a step, of two equally near ones the later; for null, that of the newest
   * point.
   */
  near(step: number | null): number {
    const last = this.total - 1;
    if (step === null || last < 0) return last;
    const at = partitionPoint(0, last, (i) => this.stepAt(i) < step);
    return at > 0 && this.stepAt(at) - step > step - this.stepAt(at - 1) ? at - 1 : at;
  }

  spot(index: number, sample: number): Spot | null {
    if (index < 0 || index >= this.total) return null;
    const p = this.points;
    const i = this.order[index];
    if (sample >= p.count[i]) return null;
    return {
      run: p.run,
      tag: this.tag,
      step: p.step[i],
      wall: p.wall[i],
      at: `${p.offset[i]}-${p.crc[i]}`,
      sample,
      type: MEDIA_TYPES[p.type[i] & ~END_IS_MISSING] ?? MEDIA_TYPES[0],
      bytes: p.bytes[i],
      width: p.width.at(i) ?? 0,
      height: p.height.at(i) ?? 0,
      rate: p.rate.at(i) ?? 0,
      frames: p.frames.at(i) ?? 0,
      isCut: sample === 0 && (p.type[i] & END_IS_MISSING) !== 0,
    };
  }

  /** The series with only those steps that have this sample. */
  having(sample: number): Shelf {
    const { count } = this.points;
    if (this.order.every((i) => count[i] > sample)) return this;
    return new Shelf(
      this.tag,
      this.points,
      this.order.filter((i) => count[i] > sample),
    );
  }

  /** The series with more points appended. */
  with(more: MediaList): Shelf {
    const mine = this.points;
    const join = <C extends Float64Array | Uint32Array | Uint8Array>(a: C, b: C, empty: (n: number) => C): C => {
      if (a.length === 0 && b.length === 0) return a; // a column that only the other kind (images or clips) has
      const all = empty(mine.points + more.points);
      all.set(a);
      all.set(b, mine.points);
      return all;
    };
    const f64 = (key: 'step' | 'wall' | 'offset') => join(mine[key], more[key], (n) => new Float64Array(n));
    const u32 = (key: 'crc' | 'count' | 'bytes' | 'width' | 'height' | 'rate' | 'frames') =>
      join(mine[key], more[key], (n) => new Uint32Array(n));
    return new Shelf(this.tag, {
      ...more,
      points: mine.points + more.points,
      step: f64('step'),
      wall: f64('wall'),
      offset: f64('offset'),
      crc: u32('crc'),
      count: u32('count'),
      bytes: u32('bytes'),
      width: u32('width'),
      height: u32('height'),
      rate: u32('rate'),
      frames: u32('frames'),
      type: join(mine.type, more.type, (n) => new Uint8Array(n)),
    });
  }
}

/** All steps of these series in ascending order, without duplicates. */
export function stepsOf(shelves: Iterable<Shelf>): number[] {
  const all = new Set<number>();
  for (const shelf of shelves) for (let i = 0; i < shelf.total; i++) all.add(shelf.stepAt(i));
  return [...all].sort((a, b) => a - b);
}

export type Spacing = 'log' | 'even';

/**
 * Chooses at most `most` of these steps: the first, the last, the one nearest to `master`, and others between them,
 * spaced by the logarithm of their distance from the first step or evenly along the list.
 */
export function chooseSteps(steps: readonly number[], most: number, how: Spacing, master: number | null): number[] {
  if (steps.length <= most) return [...steps];
  if (most <= 0) return [];
  const last = steps.length - 1;
  const nearest = (value: number) =>
    steps.reduce((best, step, i) => (Math.abs(step - value) < Math.abs(steps[best] - value) ? i : best), 0);
  const unit = Math.max(1, steps[1] - steps[0]);
  const places = Math.log1p((steps[last] - steps[0]) / unit);
  const chosen = new Set<number>([last]);
  for (let k = 0; k < most - 1; k++) {
    const share = k / (most - 1);
    let i = how === 'even' ? Math.round(share * last) : nearest(steps[0] + unit * Math.expm1(share * places));
    while (chosen.has(i)) i = (i + 1) % steps.length;
    chosen.add(i);
  }
  if (master !== null && !chosen.has(nearest(master))) {
    // it replaces the nearest chosen step, but neither the first nor the last
    const inner = [...chosen].filter((i) => i !== 0 && i !== last);
    const at = nearest(master);
    const neighbour = inner.reduce<number | null>(
      (best, i) => (best === null || Math.abs(i - at) < Math.abs(best - at) ? i : best),
      null,
    );
    chosen.delete(neighbour ?? last);
    chosen.add(at);
  }
  return [...chosen].sort((a, b) => a - b).map((i) => steps[i]);
}
