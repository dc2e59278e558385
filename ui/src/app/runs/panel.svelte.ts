// What the runs panel has open and where the keyboard is in it: the active row, the rows that are picked, a menu, a
// dialog. None of it belongs to the view.
import type { Run } from '../../data/types';
import type { MenuItem, MenuPlace } from '../../widgets/MenuList.svelte';
import type { Row } from './table/rows';
import { runs } from './runs.svelte';

export type EditField = 'name' | 'note' | 'colour';
export type PanelDialog =
  | { kind: 'edit'; run: Run; field: EditField }
  | { kind: 'tags'; runs: Run[] }
  | { kind: 'regex'; target: 'group' | 'colour' }
  | { kind: 'groupColour'; key: string }
  | { kind: 'hparams' }
  | { kind: 'compare'; runs: Run[] }
  | { kind: 'columns' };
export type PanelPopover =
  { kind: 'top'; anchor: HTMLElement } | { kind: 'filter'; column: string; anchor: HTMLElement };

export const rowKey = (row: Row): string => (row.kind === 'group' ? `g${row.key}` : `r${row.run.id}`);

class PanelState {
  dialog = $state.raw<PanelDialog | null>(null);
  popover = $state.raw<PanelPopover | null>(null);
  menu = $state.raw<{ label: string; items: MenuItem[]; place: MenuPlace } | null>(null);

  /** key of the active row, which the keys act on */
  active = $state('');
  activeIndex = $derived(this.active === '' ? -1 : runs.rows.findIndex((row) => rowKey(row) === this.active));
  #picked = $state.raw<ReadonlySet<number>>(new Set());
  #anchor = '';

  /** The rows that are picked, by run, in the table's order. */
  selected = $derived(this.#picked.size === 0 ? [] : runs.matching.filter((run) => this.#picked.has(run.id)));

  isPicked(run: Run): boolean {
    return this.#picked.has(run.id);
  }
  clear(): void {
    this.#picked = new Set();
  }
  pickAll(): void {
    this.#picked = new Set(runs.matching.map((run) => run.id));
  }

  /** Goes to a row: alone, with those between (shift), or as one more (ctrl). */
  go(index: number, how: 'only' | 'range' | 'more' | 'keep'): void {
    const row = runs.rows[index];
    if (!row) return;
    const key = rowKey(row);
    if (how === 'range') {
      const from = Math.max(
        0,
        runs.rows.findIndex((r) => rowKey(r) === this.#anchor),
      );
      const part = runs.rows.slice(Math.min(from, index), Math.max(from, index) + 1);
      this.#picked = new Set(
        part.flatMap((r) => (r.kind === 'run' ? [r.run.id] : r.open ? [] : r.runs.map((run) => run.id))),
      );
    } else {
      if (how === 'more') {
        const next = new Set(this.#picked);
        const those = row.kind === 'run' ? [row.run] : row.runs;
        const had = those.every((run) => next.has(run.id));
        for (const run of those)
          if (had) next.delete(run.id);
          else next.add(run.id);
        this.#picked = next;
      } else if (how === 'only')
        this.#picked = new Set(row.kind === 'run' ? [row.run.id] : row.runs.map(({ id }) => id));
      this.#anchor = key;
    }
    this.active = key;
  }

  /** What an action on this run is about: all that are picked if it is one of them. */
  aimedAt(run: Run): Run[] {
    return this.#picked.has(run.id) ? this.selected : [run];
  }
  get activeRun(): Run | null {
    const row = runs.rows[this.activeIndex];
    return row?.kind === 'run' ? row.run : null;
  }
}

export const panel = new PanelState();
