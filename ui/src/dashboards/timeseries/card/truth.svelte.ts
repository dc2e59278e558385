// The exact points under a pointer that rests: for every run, the nearest of all logged points. The drawn points are not
// enough, because a chart has only as many as its width allows.
import {
  LiveQuery,
  measureQuestion,
  metricOf,
  seriesKey,
  toNumber,
  type Hit,
  type Line,
  type Measured,
} from '../../../public';
import { steps } from '../../../rooms/steps/steps.svelte';
import type { CardData } from './card.svelte';

const MOST_SERIES = 2000;
type Point = { step: number; wall: number; value: number; smooth: number };

/** The position of a point on the x axis. */
function xAt(line: Line, { step, wall }: Point): number {
  if (steps.x === 'step') return step;
  if (steps.x === 'wall') return wall;
  if (steps.x === 'relative') return wall - line.firstWall;
  return step - ((line.step?.[0] ?? 0) - line.x[0]);
}

/** The hit with a line that has only the exact point. */
function trueHit(hit: Hit, point: Point): Hit {
  const { line } = hit;
  const column = (v: number) => Float64Array.of(v);
  return {
    ...hit,
    index: 0,
    line: {
      ...line,
      x: column(xAt(line, point)),
      y: column(line.raw ? point.smooth : point.value),
      raw: line.raw && column(point.value),
      step: line.step && column(point.step),
      wall: column(point.wall),
    },
  };
}

export class TruePoints {
  private at = $state<number | null>(null);
  private readonly query = new LiveQuery<Measured>();

  constructor(private readonly data: CardData) {}

  private question = $derived.by(() => {
    if (this.at === null || metricOf(steps.x) !== null) return null;
    const series = [...this.data.sources.values()].map(({ run, tag }) => ({ run: run.id, tag }));
    return series.length && series.length <= MOST_SERIES
      ? measureQuestion({ ...this.data.basis, from: this.at, series })
      : null;
  });

  /** To be called in an effect. */
  follow(): void {
    this.query.follow(() => this.question);
  }

  /** Tells that the pointer rests at this x; null if it moves or has left the chart. */
  rest(x: number | null): void {
    this.at = x;
  }

  /** The hits at x, with exact points as far as they are known. */
  of(found: readonly Hit[], x: number): readonly Hit[] {
    const question = this.question;
    if (x !== this.at || !question || !this.query.answers(question)) return found;
    const answer = this.query.answer;
    return found.map((hit) => {
      const source = this.data.sources.get(hit.line.key);
      const point = source && answer?.get(seriesKey({ run: source.run.id, tag: source.tag }))?.start;
      return point
        ? trueHit(hit, {
            step: toNumber(point.step),
            wall: toNumber(point.wall),
            value: toNumber(point.value),
            smooth: toNumber(point.smooth),
          })
        : hit;
    });
  }
}
