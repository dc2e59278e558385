// The cards of distributions, one for each tag, and what one of them shows: percentiles of the shown runs that have it.
import {
  AHEAD,
  cardKey,
  cardOf,
  hub,
  IN_SIGHT,
  LiveQuery,
  runs,
  seriesKey,
  type Run,
  type SeriesRef,
} from '../../public';
import { Cards } from '../../rooms/cards/cards.svelte';
import { stepAxis } from '../../rooms/histograms/axis';
import { panelsIn } from '../../rooms/histograms/bands';
import { xsOf, type Grid } from '../../rooms/histograms/grid';
import { gridsQuestion, type Grids } from '../../rooms/histograms/question';
import { steps } from '../../rooms/steps/steps.svelte';
import { distView, grid } from './view.svelte';

export const PLUGIN = 'histograms';
const MOST_TOGETHER = 40;
const MOST_STEPS = 1000;
const ROUND = 100;

export const distributionCards = (): Cards =>
  new Cards(grid, {
    plugins: [PLUGIN],
    cardsOf: (tags) => tags.map(({ tag }) => cardKey({ plugin: PLUGIN, tags: [tag] })),
  });

export interface Shown {
  run: Run;
  grid: Grid;
  xs: Float64Array;
}

export class DistributionData {
  width = $state(0);
  private readonly query = new LiveQuery<Grids>();

  constructor(readonly card: string) {}

  readonly tag = $derived.by(() => cardOf(this.card).tags[0]);
  private readonly holders = $derived.by(() => {
    const tag = hub.tags.find((one) => one.plugin === PLUGIN && one.tag === this.tag);
    return tag && (tag.runs === 'all' ? 'all' : new Set(tag.runs));
  });
  members = $derived.by((): Run[] => {
    const { holders } = this;
    const { run } = cardOf(this.card); // a card of one run was pinned among the histograms
    const some = run === undefined ? runs.shown : hub.runs.filter(({ name }) => name === run);
    return holders ? some.filter(({ id }) => holders === 'all' || holders.has(id)) : [];
  });
  isTogether = $derived.by(() => distView.layout === 'together');
  most = $derived(this.isTogether ? MOST_TOGETHER : panelsIn(this.width));
  drawn = $derived(this.members.slice(0, this.most));
  private readonly series = $derived.by((): SeriesRef[] => this.drawn.map(({ id }) => ({ run: id, tag: this.tag })));
  private readonly seriesText = $derived(this.series.map(seriesKey).join('\n'));

  x = $derived(stepAxis(steps.x));
  wanted = $derived.by(() => steps.stepOf(this.card));
  zoom = $derived.by(() => distView.zoom.get(this.card));

  shown = $derived.by((): Shown[] => {
    const answer = this.query.answer;
    return this.drawn.flatMap((run) => {
      const found = answer?.series.get(seriesKey({ run: run.id, tag: this.tag }));
      return found ? [{ run, grid: found, xs: xsOf(found, this.x) }] : [];
    });
  });
  isEmpty = $derived(this.query.answer !== undefined && this.shown.every((one) => one.grid.n === 0));

  get trouble() {
    return this.query.trouble;
  }
  tryNow(): void {
    this.query.tryNow();
  }
  set inSight(isInSight: boolean) {
    this.query.setPriority(isInSight ? IN_SIGHT : AHEAD);
  }

  private readonly stepCount = $derived.by(() => {
    const panels = this.isTogether ? 1 : Math.max(1, this.drawn.length);
    return Math.min(MOST_STEPS, Math.max(ROUND, Math.ceil(this.width / panels / ROUND) * ROUND));
  });

  /** Inside an effect. */
  follow(): void {
    this.query.follow(() => {
      void this.seriesText;
      if (this.width === 0 || this.series.length === 0) return null;
      return gridsQuestion(
        {
          x: this.x,
          steps: this.stepCount,
          bins: 0,
          ...(this.wanted === null ? {} : { at: this.wanted }),
          ...(this.zoom?.x ? { range: this.zoom.x } : {}),
        },
        this.series,
      );
    });
  }

  choose(step: number | null): void {
    steps.setStep(this.card, step);
  }
}
