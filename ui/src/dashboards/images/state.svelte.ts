// The cards of images. As cards and film strips: one for each run and tag (and sample, where that is asked for); as a grid:
// one for each tag, with a row for each run.
import { cardKey, cardOf, format, groupOf, t, type Run, type SheetAsk, type Tag } from '../../public';
import { Cards } from '../../rooms/cards/cards.svelte';
import { runsWith } from '../../rooms/cards/ofruns';
import { steps } from '../../rooms/steps/steps.svelte';
import type { MatrixData } from './grid/matrix.svelte';
import { stepsOf, type Shelf, type Spot } from '../../rooms/media/shelf';
import { grid, imagesView, PLUGIN } from './view.svelte';

type SheetRow = SheetAsk['rows'][number];

/** Rows of a grid before somebody asks for more. */
export const ROWS = 50;
const MOST_SAMPLES = 64;

const CARD = 350;
const WIDE_CARD = 560;
const STRIP_CARD = 220;
export const CELL = 104;
export const ROW = CELL + 46;
const GRID_CARD = 36 + 28 + 28;

/** A card for each run and tag, and sample, where that is asked for. */
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

/** How high the card of a run is. */
export const cardHeight = (_: string, isWide: boolean): number => (isWide ? WIDE_CARD : CARD);

export class Images {
  readonly cards = new Cards(grid, { plugins: [PLUGIN], cardsOf });
  /** how many rows of a grid are shown, where that is more than at first */
  private rows = $state.raw<ReadonlyMap<string, number>>(new Map());
  /** what the cards in sight have */
  private shelves = $state.raw<ReadonlyMap<string, Shelf>>(new Map());

  /** The runs of a grid, in order. */
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

  /** Grids and film strips take the whole row, unless somebody wants several in one. */
  spanOf(card: string): number {
    const takesRow = cardOf(card).run === undefined || imagesView.mode === 'strip';
    return takesRow && grid.perRow === 0 ? Infinity : 1;
  }

  /** The tag that all pictures are measured against, if the log has it; null: none. */
  reference = $derived.by(() => {
    const { reference } = imagesView;
    return this.cards.tags.some(({ tag }) => tag === reference) ? reference : null;
  });

  /** A card came into sight with these pictures, or left it. */
  tell(card: string, shelf: Shelf | null): void {
    if (this.shelves.get(card) === (shelf ?? undefined)) return;
    const next = new Map(this.shelves);
    if (shelf) next.set(card, shelf);
    else next.delete(card);
    this.shelves = next;
  }
  /** A grid left the page, and all of its rows with it. */
  forget(card: string): void {
    this.shelves = new Map([...this.shelves].filter(([key]) => !key.startsWith(`${card}\n`)));
    this.tellRows(card, null);
  }

  private readonly matrices = new Map<string, MatrixData>();
  tellRows(card: string, matrix: MatrixData | null): void {
    if (matrix) this.matrices.set(card, matrix);
    else this.matrices.delete(card);
  }
  /** What is in sight as the rows of a contact sheet: cards by tag, grids as they are. */
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

  /** All steps of the cards in sight, for the master. */
  steps = $derived.by(() => stepsOf(this.shelves.values()));
}
