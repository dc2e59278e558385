// What the pointer is over in the line charts of a dashboard, and the tooltip that was pinned by a click.
import { Crosshair, type Hit, type Line, type X } from '../../public';

/** Facts about all lines of a chart, which do not change with the pointer. */
export interface LinesAbout {
  total: number; // number of lines that have points
  banded: boolean;
  smooth: boolean;
  several: boolean; // does the chart show several tags?
  names: ReadonlyMap<string, string>; // short ones, by name
  letters: number; // of the longest short name
}

export interface Hover {
  place: string; // the place of the card
  axis: X;
  isPercent: boolean;
  found: Hit[];
  x: number;
  lines: LinesAbout; // about all lines: if there are very many, `found` has only the nearest
  left: number; // position in the window
  top: number;
  /** a rectangle in the window that contains the nearest point and the pointer */
  spot: { left: number; top: number; right: number; bottom: number };
  py: number; // vertical position of the pointer in the plot, in pixels
  digits: (line: Line) => number; // significant digits that are needed to tell the line's values apart
  /** the rectangle of the card in the window */
  card: { left: number; top: number; right: number; bottom: number };
  /** provides the exact points, in place of the drawn ones, as soon as they are known */
  truth?: Truth;
}

/** Requests the exact points while the pointer rests: a chart has only as many points as its width allows. */
export interface Truth {
  /** the pointer rests at this x; null if it moves or has left the chart */
  rest(x: number | null): void;
  of(found: readonly Hit[], x: number): readonly Hit[];
}

/** Groups of runs that are drawn as bands, if the dashboard has them. */
export interface Bands {
  readonly center: 'mean' | 'median';
  isRevealed(group: string): boolean; // are the lines of its runs drawn too?
  toggle(group: string): void;
}

export class Hovering {
  readonly crosshair = new Crosshair(); // shared by all charts that have the same x axis
  hover = $state.raw<Hover | null>(null);
  pinned = $state.raw<Hover | null>(null);
  private releasing = false;

  constructor(readonly bands: Bands | null = null) {}

  /** Pins the tooltip of a chart after a click. The click that closes a pinned tooltip does not pin another one. */
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
