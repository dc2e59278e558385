// The rows of a tooltip and their order. Lines that have no point at the pointer's x (they ended before it, or begin
// after it) come last in every order. Pure functions, so that tests need no browser.
import { format, metricOf, naturalCompare, t, type Hit, type X } from '../../public';
import type { TooltipSort } from './settings.svelte';

export const valueAt = (hit: Hit): number => (hit.line.raw ?? hit.line.y)[hit.index];
const shownAt = (hit: Hit): number => hit.line.y[hit.index];
const last = (v: number) => (Number.isNaN(v) ? Infinity : v);

/**
 * Sorts the rows. `py` is the vertical position of the pointer; if it is NaN, "nearest y" means nearest to the first row.
 */
export function ordered(found: readonly Hit[], sort: TooltipSort, py: number): Hit[] {
  const list = [...found];
  const away = (hit: Hit) => last(Math.abs(hit.py - py));
  const by: Record<TooltipSort, (a: Hit, b: Hit) => number> = {
    drawn: (a, b) => last(a.py) - last(b.py),
    nearest: (a, b) => a.distance - b.distance,
    nearestY: (a, b) => away(a) - away(b),
    ascending: (a, b) => last(shownAt(a)) - last(shownAt(b)),
    descending: (a, b) => last(-shownAt(a)) - last(-shownAt(b)),
    name: (a, b) => naturalCompare(a.line.name, b.line.name),
  };
  return list.sort(
    (a, b) => Number(a.outside) - Number(b.outside) || by[sort](a, b) || naturalCompare(a.line.name, b.line.name),
  );
}

/**
 * The rows of a tooltip in its order. `found` is sorted by distance, and the nearest `most` lines are taken. If some
 * lines have a point at the pointer's x, those that ended before or begin after it are left out.
 */
export function rowsOf(found: readonly Hit[], most: number, sort: TooltipSort, py: number): Hit[] {
  let n = Math.min(found.length, most);
  if (n && !found[0].outside) while (found[n - 1].outside) n--;
  return ordered(found.slice(0, n), sort, py);
}

const LONG = 18; // letters

/**
 * Short names of the lines of a chart, by name. What differs between any two lines of the chart stays, also while the tooltip
 * has rows for a few of them only; "validation", which many names end with, is abbreviated.
 */
export const shortNames = (labels: ReadonlyMap<string, string>): ReadonlyMap<string, string> => {
  const short = [...labels].map(([name, label]): [string, string] => [
    name,
    label.length > LONG ? label.replace(/\bvalidation$/, 'val') : label,
  ]);
  return new Set(short.map(([, label]) => label)).size < labels.size ? labels : new Map(short);
};

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}
const BESIDE = 16; // distance from the point in pixels
const ABOVE = 12; // the same, above or below it
const EDGE = 8; // least distance from the edge of the window in pixels
const TITLE = 36; // height of a card's title in pixels

/**
 * The position of a tooltip of this size: beside the pointer and the nearest point, or else above or below them. It never
 * covers them, nor the title of its card or of the cards beside and below it, if there is room elsewhere.
 */
export function placeOf(
  spot: Box,
  { width, height }: { width: number; height: number },
  card: Box,
  window: { width: number; height: number },
): { left: number; top: number } {
  const right = spot.right + BESIDE;
  const left = spot.left - BESIDE - width;
  const highest = Math.max(EDGE, card.top + TITLE);
  const lowest = Math.min(window.height - EDGE, card.bottom + EDGE) - height;
  const middle = (spot.top + spot.bottom) / 2;
  const beside = Math.max(EDGE, Math.min(Math.max(middle - height / 2, highest), Math.max(lowest, EDGE)));
  if (right + width <= window.width - EDGE) return { left: right, top: beside };
  if (left >= EDGE) return { left, top: beside };
  const above = spot.top - ABOVE - height;
  const below = spot.bottom + ABOVE;
  // above, unless that covers this card's title and there is room below; a window too low for both has it above
  const isAbove = above >= highest || (below > lowest && above >= EDGE);
  return {
    left: Math.max(EDGE, Math.min((spot.left + spot.right - width) / 2, window.width - width - EDGE)),
    top: isAbove ? above : below,
  };
}

/** All rows as tab-separated text with all digits, for a spreadsheet. */
export function tableText(rows: readonly Hit[], heads: readonly string[]): string {
  const cells = rows.map(({ line, index }) => {
    if (line.band)
      return [line.name, line.y[index], line.band.low[index], line.band.high[index], line.band.count[index]];
    const wall = line.wall ? [format.iso(line.wall[index]), line.wall[index] - line.firstWall] : ['', ''];
    return [
      line.tag ? `${line.name} · ${line.tag}` : line.name,
      line.y[index],
      (line.raw ?? line.y)[index],
      line.step?.[index] ?? '',
      ...wall,
    ];
  });
  return [heads, ...cells].map((row) => row.join('\t')).join('\n');
}

/** The head of the tooltip: the position on x as text. */
export function headOf(found: readonly Hit[], at: number, axis: X): string {
  const hit = found.at(0);
  if (!hit) return '';
  const x = hit.outside ? at : hit.line.x[hit.index];
  if (axis === 'wall') return format.wall(x);
  if (axis === 'relative') return format.duration(x);
  if (axis === 'step_relative') return t('tip.stepsIn', { n: format.count(x) });
  const metric = metricOf(axis);
  return metric === null ? t('tip.step', { n: format.count(x) }) : `${metric} ${format.value(x)}`;
}

const SPOKEN = 3; // most lines in the text for screen readers: a longer list would not be listened to

/** The tooltip as one sentence, for a screen reader. */
export function spokenText(found: readonly Hit[], at: number, axis: X, shown: (v: number, hit: Hit) => string): string {
  const here = found.filter((hit) => !hit.outside);
  const parts = here.slice(0, SPOKEN).map((hit) => `${hit.line.name} ${shown(valueAt(hit), hit)}`);
  if (here.length > SPOKEN) parts.push(t('tip.more', { n: format.count(here.length - SPOKEN) }));
  return `${headOf(found, at, axis)}: ${parts.join(', ')}`;
}
