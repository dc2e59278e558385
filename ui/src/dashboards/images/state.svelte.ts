// The cards of images. In the layouts "cards" and "film strips" there is one for each run and tag, optionally one for
// each sample too; in the layout "grid" there is one for each tag, with a row for each run.
import { cardKey, cardOf, format, groupOf, t, type Run, type SheetAsk, type Tag } from '../../public';
import { Cards } from '../../rooms/cards/cards.svelte';
import { runsWith } from '../../rooms/cards/ofruns';
import { steps } from '../../rooms/steps/steps.svelte';
import type { MatrixData } from './grid/matrix.svelte';
import { stepsOf, type Shelf, type Spot } from '../../rooms/media/shelf';
import { grid, imagesView, PLUGIN } from './view.svelte';

type SheetRow = SheetAsk['rows'][number];

/** Rows of a grid that are shown at first, and with each "show more". */
export const ROWS = 50;
const MOST_SAMPLES = 64;

const CARD = 350;
const WIDE_CARD = 560;
const STRIP_CARD = 220;
export const CELL = 104;
export const ROW = CELL + 46;
const GRID_CARD = 36 + 28 + 28;

/** One card for each run and tag or, if the viewer wants that, for each sample. */
export const cardsOfRuns = (tags: readonly Tag[], showAll = grid.emptyCards): string[] =>
  tags.flatMap((tag) =>
    runsWith(tag, showAll).flatMap(({ name }) => {
      const one = { plugin: PLUGIN, tags: [tag.tag], run: name };
      if (!imagesView.each || (tag.samples ?? 0) < 2) return [cardKey(one)];
      return Array.from({ length: Math.min(tag.samples ?? 0, MOST_SAMPLES) }, (_, sample) =>
        cardKey({ ...one, sample }),
      );
    }),
  );
const cardsOf = (tags: readonly Tag[]): string[] =>
  tags.flatMap((tag) =>
    imagesView.modeOf(groupOf(tag.tag)) === 'grid'
      ? [cardKey({ plugin: PLUGIN, tags: [tag.tag] })]
      : cardsOfRuns([tag]),
  );

/** The height of the card of a run. */
export const cardHeight = (_: string, isWide: boolean): number => (isWide ? WIDE_CARD : CARD);

export class Images {
  readonly cards = new Cards(grid, { plugins: [PLUGIN], cardsOf });
  /** the number of shown rows, for grids where the viewer asked for more */
  private rows = $state.raw<ReadonlyMap<string, number>>(new Map());
  /** the images of the visible cards */
  private shelves = $state.raw<ReadonlyMap<string, Shelf>>(new Map());

  /** The runs of a grid, in the order of its rows. */
  runsOf(card: string): Run[] {
    return this.cards.tagsOf(card).flatMap((tag) => runsWith(tag, grid.emptyCards));
  }
  rowsOf(card: string): number {
    return Math.min(this.rows.get(card) ?? ROWS, this.runsOf(card).length);
  }
  showMore(card: string): void {
    this.rows = new Map(this.rows).set(card, this.rowsOf(card) + ROWS);
  }

  heightOf(card: string, isWide: boolean): number {
    if (cardOf(card).run === undefined) {
      const rows = this.rowsOf(card);
      return GRID_CARD + rows * ROW + (rows < this.runsOf(card).length ? 40 : 0);
    }
    if (imagesView.mode === 'strip') return STRIP_CARD;
    return cardHeight(card, isWide);
  }

  /**
   * The number of columns of a card. Grids and film strips fill a row, unless the viewer has set the number of cards in a
   * row.
   */
  spanOf(card: string): number {
    const takesRow = cardOf(card).run === undefined || imagesView.mode === 'strip';
    return takesRow && grid.perRow === 0 ? Infinity : 1;
  }

  /** The reference tag, which all images are compared with; null if none is set or the log does not have it. */
  reference = $derived.by(() => {
    const { reference } = imagesView;
    return this.cards.tags.some(({ tag }) => tag === reference) ? reference : null;
  });

  /** A card tells its images when it becomes visible, and null when it is hidden. */
  tell(card: string, shelf: Shelf | null): void {
    if (this.shelves.get(card) === (shelf ?? undefined)) return;
    const next = new Map(this.shelves);
    if (shelf) next.set(card, shelf);
    else next.delete(card);
    this.shelves = next;
  }
  /** Removes the images of all rows of a grid that was removed from the page. */
  forget(card: string): void {
    this.shelves = new Map([...this.shelves].filter(([key]) => !key.startsWith(`${card}\n`)));
    this.tellRows(card, null);
  }

  private readonly matrices = new Map<string, MatrixData>();
  tellRows(card: string, matrix: MatrixData | null): void {
    if (matrix) this.matrices.set(card, matrix);
    else this.matrices.delete(card);
  }
  /** The visible images as rows of a contact sheet: one row for each tag of the cards, grids as they are. */
  sheetRows(): SheetRow[] {
    const cell = (spot: Spot | null, label: string) =>
      spot && { run: spot.run, tag: spot.tag, at: spot.at, sample: spot.sample, label };
    const step = (spot: Spot | null) => (spot ? t('tip.step', { n: format.count(spot.step) }) : '');
    const rows = new Map<string, SheetRow>();
    for (const [card, shelf] of this.shelves) {
      const { run, tags } = cardOf(card);
      if (run === undefined) continue;
      const spot = shelf.spot(shelf.near(steps.stepOf(card)), imagesView.sampleOf(card));
      const row = rows.get(tags[0]) ?? { label: tags[0], cells: [] };
      row.cells.push(cell(spot, `${run} · ${step(spot)}`));
      rows.set(tags[0], row);
    }
    const ofGrids = [...this.matrices.values()].flatMap((matrix) =>
      matrix.rows.map(({ run, cells }) => ({
        label: `${matrix.tag} · ${matrix.nameOf(run)}`,
        cells: cells.map(({ spot }) => cell(spot, step(spot))),
      })),
    );
    return [...rows.values(), ...ofGrids];
  }

  /** All steps of the visible cards, for the slider of the common step. */
  steps = $derived.by(() => stepsOf(this.shelves.values()));
}
