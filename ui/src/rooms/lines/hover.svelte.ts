// What the pointer is over in a dashboard's line charts, and the tooltip that a click keeps.
import { Crosshair, type Hit, type Line, type X } from '../../public';

/** What all lines of a chart together are, which does not change with the pointer. */
export interface LinesAbout {
  total: number; // that have points
  banded: boolean;
  smooth: boolean;
  several: boolean; // tags
}

export interface Hover {
  place: string; // of the card
  axis: X;
  isPercent: boolean;
  found: Hit[];
  x: number;
  lines: LinesAbout; // of very many only the nearest are found
  left: number; // in the window
  top: number;
  /** the nearest point and the pointer are within this, in the window */
  spot: { left: number; top: number; right: number; bottom: number };
  py: number; // the pointer's height in the plot
  digits: (line: Line) => number; // that tell its values apart
  /** of the card, in the window */
  card: { left: number; top: number; right: number; bottom: number };
  /** true points in place of those that are drawn, as soon as they are known */
  truth?: Truth;
}

/** Finds the points that a chart has no room for, while the pointer rests. */
export interface Truth {
  /** the pointer rests at this x; null: it moves or is gone */
  rest(x: number | null): void;
  of(found: readonly Hit[], x: number): readonly Hit[];
}

/** Groups of runs that are drawn as bands, where a dashboard has such. */
export interface Bands {
  readonly center: 'mean' | 'median';
  isRevealed(group: string): boolean; // are its runs drawn too?
  toggle(group: string): void;
}

export class Hovering {
  readonly crosshair = new Crosshair(); // shared by all charts of one x
  hover = $state.raw<Hover | null>(null);
  pinned = $state.raw<Hover | null>(null);
  private releasing = false;

  constructor(readonly bands: Bands | null = null) {}

  /** A click on a chart keeps its tooltip; the click that closes one opens none. */
  pin(hover: Hover): void {
    if (this.releasing) return;
    this.pinned = hover;
    this.hover = null;
  }
  release(byPointer: boolean): void {
    this.pinned = null;
    if (!byPointer) return;
    this.releasing = true;
    addEventListener('pointerup', () => (this.releasing = false), { once: true });
  }
}
