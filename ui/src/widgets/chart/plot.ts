// One chart: three canvases on top of each other. Axes (cheap, redrawn at will), lines (drawn over several frames into
// a hidden canvas and shown when complete; moved and stretched at once when the view changes), and the hover layer,
// the only one that is touched when the pointer moves.
//
// In: lines, axes kinds, zoom. Out: callbacks with what the pointer is near and what the user zoomed to.
import { digitsFor } from '../../base/numbers/format';
import { sized } from '../sized';
import { BOTTOM, drawAxes, FONT, TITLE, TOP } from './axes';
import type { Crosshair } from './crosshair';
import { drawMarks, type Marks } from './fobs';
import { overFrames } from './frames';
import { hits, trace, xExtent, yExtent, type Hit, type Line } from './lines';
import {
  makeAxis,
  padded,
  projectionOf,
  ticksOf,
  toPixel,
  toValue,
  type Axis,
  type AxisWhat,
  type Projection,
  type Range,
  type ScaleKind,
  type Tick,
} from './scale';
import { attachGestures, attachStrip, type GestureEvents } from './gestures';
import { paintLines } from './paint';
import { onPixelRatio } from './ratio';

export interface PlotZoom {
  x: Range | null;
  y: Range | null;
}
export interface PlotTheme {
  ink: string;
  grid: string;
  accent: string;
  bad: string;
  panel: string;
  strong: string; // what the pointer is on
}
export interface PlotData {
  lines: readonly Line[];
  xWhat: AxisWhat;
  xScale: ScaleKind;
  yScale: ScaleKind;
  yWhat?: 'number' | 'percent';
  ignoreOutliers: boolean;
  zoom: PlotZoom | null;
  level?: number | null; // a line across, to compare with
  xTitle?: string; // under the axis, where x is not what all charts have
  xWord?: string; // what x is, in a word, where there is no title
  language?: string; // of dates on the x axis, a BCP 47 tag
  yTitle?: string; // when y is not what the card's title says; for exported charts
}
export interface PlotEvents {
  hover(found: Hit[] | null, x: number, at: { left: number; top: number }): void;
  pick(found: Hit[], x: number, at: { left: number; top: number }): void;
  zoom(zoom: PlotZoom | null): void;
  width(pixels: number): void;
  drawn(): void; // the axes may be others now
}

const LEFT = 46; // room for the labels of a y axis; more where they need many digits
const WIDEST = 118;
const LABEL = 38; // pixels from one label of a y axis to the next
const MOST_LABELS = 9;
const LABELS_OF_ONE = 3; // of a single value: what is beside it is no data
const RIGHT = 10;
const DIMMED = '0.25'; // of lines behind the one that is pointed at
const MOST_FORWARD = 100;
const MOST_HOVERED = 50; // lines that are told about while the pointer moves
const SYNC_POINTS = 20000;
const SETTLE_MS = 80; // while somebody zooms many lines the old picture moves; the new one is drawn after

interface Fitted {
  projection: Projection;
  range: Range;
  labels: number; // at most
}
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export class Plot {
  readonly axes: HTMLCanvasElement;
  readonly clip: HTMLDivElement;
  ink: HTMLCanvasElement;
  readonly over: HTMLCanvasElement;
  box: Box = { left: LEFT, top: TOP, width: 0, height: 0 };
  ax: Axis = makeAxis(projectionOf('linear', null), [0, 1], 0, 1);
  ay: Axis = makeAxis(projectionOf('linear', null), [0, 1], 1, 0);
  right: Axis | null = null; // of lines on the second y axis
  data: PlotData = { lines: [], xWhat: 'number', xScale: 'linear', yScale: 'linear', ignoreOutliers: true, zoom: null };

  private theme: PlotTheme = { ink: '#666', grid: '#eee', accent: '#06c', bad: '#d00', panel: '#fff', strong: '#000' };
  #painted: { ax: Axis; ay: Axis; lines: readonly Line[] } | null = null;
  #fit: { lines: readonly Line[]; key: string; axes: { x: Fitted; y: Fitted } } | null = null;
  #cancelPaint: (() => void) | null = null;
  #isGone = false;
  #overFrame = 0; // 0: the hover layer is up to date
  #pointer: { px: number; py: number } | null = null;
  #isMouse = false; // the pointer is the mouse, not the point that keys went to
  #stepped: number | null = null; // the point that keys went to, where others may be as near
  #selection: Box | null = null;
  #marks: Marks | null = null;
  #isForward: ((line: Line) => boolean) | null = null; // null: no line is before the others
  private forward: readonly Line[] = []; // of the lines that there are now
  #room = LEFT;
  /**
   * The size of the host, as the observer told it after a layout of the page; null before the first one. A plot that asked
   * the host itself would force a layout, and every plot of a new page one more.
   */
  #hostSize: { width: number; height: number } | null = null;
  #ratio = 0; // device pixels per CSS pixel that the canvases were made for
  readonly #quiet: () => void;
  readonly #gestures: GestureEvents;
  readonly #detach: () => void;

  constructor(
    readonly host: HTMLElement,
    private readonly events: PlotEvents,
    readonly crosshair: Crosshair,
  ) {
    this.axes = document.createElement('canvas');
    this.clip = document.createElement('div');
    this.ink = document.createElement('canvas');
    this.over = document.createElement('canvas');
    this.clip.className = 'plot-clip';
    this.clip.append(this.ink);
    for (const canvas of [this.axes, this.ink, this.over]) canvas.setAttribute('aria-hidden', 'true');
    host.append(this.axes, this.clip, this.over);
    const stopSize = sized((width, height) => {
      this.#hostSize = { width, height };
      this.#resize();
    })(host);
    const stopRatio = onPixelRatio(() => this.#resize());
    const stopCrosshair = crosshair.listen(() => this.#scheduleOver());
    this.#quiet = () => {
      stopSize?.();
      stopRatio();
      stopCrosshair();
    };
    this.#gestures = {
      move: (pointer) => {
        this.#pointAt(pointer);
        this.#isMouse = pointer !== null;
      },
      select: (selection) => {
        this.#selection = selection;
        this.#scheduleOver();
      },
      click: () => this.pick(),
      zoom: (zoom) => this.events.zoom(zoom),
    };
    this.#detach = attachGestures(this, this.#gestures);
  }

  destroy(): void {
    this.#quiet();
    this.#detach();
    this.#cancelPaint?.();
    if (this.crosshair.at.owner === this) this.crosshair.set(null, null);
    // no events after destroy(): the owner may be destroyed while its other parts still call this plot
    cancelAnimationFrame(this.#overFrame);
    this.#isGone = true;
  }

  /** Beside the y axis: a drag along it zooms y alone. */
  strip(beside: HTMLElement): () => void {
    return attachStrip(this, beside, this.#gestures);
  }

  set(data: PlotData, theme: PlotTheme): void {
    const isOther = data.lines !== this.data.lines;
    this.data = data;
    this.theme = theme;
    if (isOther) this.#findForward();
    if (!this.#resize()) this.render();
  }

  /** Returns whether it was drawn again. */
  #resize(): boolean {
    if (!this.#hostSize) return false;
    const { width, height } = this.#hostSize;
    const box = {
      left: this.#room,
      top: TOP,
      width: Math.max(10, width - this.#room - this.#margin),
      height: Math.max(10, height - TOP - this.#bottom),
    };
    const ratio = devicePixelRatio || 1;
    if (box.width === this.box.width && box.height === this.box.height && ratio === this.#ratio) return false;
    this.box = box;
    this.#ratio = ratio;
    this.#size(this.axes, width, height);
    this.#size(this.over, width, height);
    this.clip.style.left = `${box.left}px`;
    this.clip.style.top = `${box.top}px`;
    this.clip.style.width = `${box.width}px`;
    this.clip.style.height = `${box.height}px`;
    this.#painted = null;
    this.render();
    this.events.width(Math.round(box.width));
    return true;
  }

  get #bottom(): number {
    return this.data.xTitle ? BOTTOM + TITLE : BOTTOM;
  }

  get #margin(): number {
    return this.#hasRight ? this.#room : RIGHT;
  }

  get #hasRight(): boolean {
    return this.data.lines.some((line) => line.right);
  }

  /** The ticks of a y axis, as they are drawn and exported. */
  yTicks(axis: Axis, height = this.box.height): Tick[] {
    const { most = MOST_LABELS } = axis;
    return most ? ticksOf(axis, Math.min(most, Math.floor(height / LABEL)), this.data.yWhat ?? 'number') : [];
  }

  /** Labels of values that hardly differ need many digits: then the margin is wider. */
  #roomForLabels(): number {
    const ctx = this.axes.getContext('2d');
    if (!ctx) return LEFT;
    ctx.font = FONT;
    let widest = 0;
    for (const axis of this.right ? [this.ay, this.right] : [this.ay])
      for (const { text } of this.yTicks(axis)) widest = Math.max(widest, ctx.measureText(text).width);
    return widest <= LEFT - 8 ? LEFT : Math.min(WIDEST, Math.ceil((widest + 8) / 8) * 8);
  }

  /** How many digits tell apart values of this line that are apart on the chart. */
  digitsOf(line: Line): number {
    return digitsFor(this.axisOf(line).domain);
  }

  axisOf(line: Line): Axis {
    return (line.right ? this.right : null) ?? this.ay;
  }

  #size(canvas: HTMLCanvasElement, width: number, height: number): void {
    canvas.width = Math.round(width * this.#ratio);
    canvas.height = Math.round(height * this.#ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }

  #pen(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
    const ctx = canvas.getContext('2d');
    ctx?.setTransform(this.#ratio, 0, 0, this.#ratio, 0, 0);
    return ctx;
  }

  render(): void {
    if (this.box.width <= 10) return;
    if (this.data.lines.length === 0 && !this.#painted) return; // no axes without data: they would jump when data comes
    const { x, y } = this.fitted();
    const { zoom } = this.data;
    this.ax = makeAxis(x.projection, zoom?.x ?? x.range, 0, this.box.width);
    this.ay = this.#yAxis(y, zoom?.y ?? null);
    this.right = this.#rightAxis(y);
    const room = this.#roomForLabels();
    if (room !== this.#room) {
      this.#room = room;
      if (this.#resize()) return;
    }
    this.#keepPointer();
    const ctx = this.#pen(this.axes);
    if (ctx) {
      const labels = { y: this.yTicks(this.ay), right: this.right ? this.yTicks(this.right) : [] };
      drawAxes(ctx, this, this.theme, this.#margin, labels);
    }
    this.#stretch();
    this.#paint();
    this.#scheduleOver();
    this.events.drawn();
  }

  /** What is selected on x: lines, and the range between them. */
  mark(marks: Marks | null): void {
    this.#marks = marks;
    this.#scheduleOver();
  }

  /** Brings lines forward and dims the others; null: all are alike again. */
  bringForward(isForward: ((line: Line) => boolean) | null): void {
    if (isForward === null && this.#isForward === null) return;
    this.#isForward = isForward;
    this.#findForward();
    this.#scheduleOver();
  }

  #findForward(): void {
    this.forward = this.#isForward ? this.data.lines.filter(this.#isForward) : [];
  }

  /** The second axis fits its own lines; where the first is zoomed it shows the same share of its own. */
  #rightAxis(left: Fitted): Axis | null {
    const lines = this.data.lines.filter((line) => line.right);
    if (lines.length === 0) return null;
    const fit = this.#fitY(lines);
    const zoom = this.data.zoom?.y;
    if (!zoom) return this.#yAxis(fit, null);
    const share = makeAxis(left.projection, left.range, 0, 1);
    const own = makeAxis(fit.projection, fit.range, 0, 1);
    return makeAxis(
      fit.projection,
      [toValue(own, toPixel(share, zoom[0])), toValue(own, toPixel(share, zoom[1]))],
      this.box.height,
      0,
    );
  }

  #fitY(lines: readonly Line[]): Fitted {
    const { zoom, yScale, ignoreOutliers } = this.data;
    const projection = projectionOf(yScale, yScale === 'symlog' ? yExtent(lines, null, false, yScale) : null);
    const extent = yExtent(lines, zoom?.x ?? null, ignoreOutliers, yScale);
    const labels = !extent ? 0 : extent[0] === extent[1] ? LABELS_OF_ONE : MOST_LABELS;
    return { projection, range: padded(extent ?? (yScale === 'log' ? [1, 10] : [0, 1]), projection, 0.06), labels };
  }

  #yAxis({ projection, range, labels }: Fitted, zoom: Range | null): Axis {
    return { ...makeAxis(projection, zoom ?? range, this.box.height, 0), most: zoom ? MOST_LABELS : labels };
  }

  /** What the axes show when nobody zoomed or typed a range; y follows the zoom of x. */
  fitted(): { x: Fitted; y: Fitted } {
    const { lines, zoom, xScale, yScale, ignoreOutliers } = this.data;
    const key = [zoom?.x?.[0], zoom?.x?.[1], xScale, yScale, ignoreOutliers, this.#hasRight].join();
    if (this.#fit?.lines !== lines || this.#fit.key !== key) this.#fit = { lines, key, axes: this.#fitAxes() };
    return this.#fit.axes;
  }

  #fitAxes(): { x: Fitted; y: Fitted } {
    const { lines, xScale } = this.data;
    const extent = xExtent(lines, xScale);
    const projection = projectionOf(xScale, extent);
    const left = this.#hasRight ? lines.filter((line) => !line.right) : lines;
    return {
      x: {
        projection,
        range: padded(extent ?? (xScale === 'log' ? [1, 10] : [0, 1]), projection, 0.015),
        labels: MOST_LABELS,
      },
      y: this.#fitY(left),
    };
  }

  // ---- axes ----

  // ---- lines ----

  /** Moves the picture that is there to where its data would be now, until the new one is ready. */
  #stretch(): void {
    const was = this.#painted;
    if (!was || was.ax.projection !== this.ax.projection || was.ay.projection !== this.ay.projection) return;
    const sx = this.ax.a / was.ax.a;
    const sy = this.ay.a / was.ay.a;
    const tx = this.ax.b - sx * was.ax.b;
    const ty = this.ay.b - sy * was.ay.b;
    this.ink.style.transform = `matrix(${sx},0,0,${sy},${tx},${ty})`;
  }

  #paint(): void {
    this.#cancelPaint?.();
    this.#cancelPaint = null;
    let points = 0;
    for (const line of this.data.lines) points += line.x.length * (line.raw ? 2 : 1);
    if (points > SYNC_POINTS && this.#painted?.lines === this.data.lines) {
      const timer = setTimeout(() => this.#paintNow(points), SETTLE_MS);
      this.#cancelPaint = () => clearTimeout(timer);
    } else this.#paintNow(points);
  }

  #paintNow(points: number): void {
    const { ax, ay } = this;
    const { lines } = this.data;
    const back = document.createElement('canvas');
    back.setAttribute('aria-hidden', 'true');
    this.#size(back, this.box.width, this.box.height);
    const ctx = this.#pen(back);
    if (!ctx) return;
    const show = () => {
      // the finished canvas takes the place of the old one: copying its pixels would cost as much as a frame
      this.ink.replaceWith(back);
      this.ink = back;
      this.#painted = { ax, ay, lines };
      this.host.dataset.painted = String(lines.length);
    };
    const job = paintLines(ctx, this.data.lines, { ax, left: ay, right: this.right ?? ay }, this.theme, show);
    if (points <= SYNC_POINTS) while (!job.next().done);
    else this.#cancelPaint = overFrames(job);
  }

  // ---- hover ----

  #pointAt(pointer: { px: number; py: number } | null): void {
    this.#pointer = pointer;
    this.#isMouse = false;
    this.#stepped = null;
    this.crosshair.set(pointer ? toValue(this.ax, pointer.px) : null, pointer ? this : null);
    this.#scheduleOver();
  }

  /** The axes are others now: the crosshair stays under the mouse, or at the point that keys went to. */
  #keepPointer(): void {
    const { x, owner } = this.crosshair.at;
    if (!this.#pointer || x === null || owner !== this) return;
    if (this.#isMouse) this.crosshair.set(toValue(this.ax, this.#pointer.px), this);
    else this.#pointer.px = toPixel(this.ax, x);
  }

  /** Removes the crosshair; returns whether there was one. */
  leave(): boolean {
    const isHere = this.crosshair.at.owner === this && this.crosshair.at.x !== null;
    if (isHere) this.#pointAt(null);
    return isHere;
  }

  /** Moves the crosshair by a point of the first line, for the keyboard; returns the points there. */
  step(by: number): { found: Hit[]; x: number } | null {
    const first = this.data.lines[0];
    if (!first || first.x.length === 0) return null;
    const now = this.crosshair.at.owner === this ? this.crosshair.at.x : null;
    const before = by > 0 ? -1 : first.x.length;
    const at =
      now === null
        ? before
        : (this.#stepped ??
          hits([first], now, first.free ? this.#pointer : null, this.ax, this.ay)[0]?.index ??
          before);
    const index = Math.min(first.x.length - 1, Math.max(0, at + by));
    const px = toPixel(this.ax, first.x[index]);
    this.#pointAt({ px, py: toPixel(this.ay, first.y[index]) || 0 });
    if (first.free) this.#stepped = index;
    const x = first.x[index];
    return { found: hits(this.data.lines, x, this.#pointer, this.ax, this.ay, this.right ?? this.ay), x };
  }

  /** What y is at a height within the chart. */
  valueAt(top: number): number {
    return toValue(this.ay, top - this.box.top);
  }

  /** What the crosshair is on now, for somebody who clicked or pressed Enter. */
  pick(): void {
    const { x, owner } = this.crosshair.at;
    if (x === null || owner !== this) return;
    const at = { left: this.box.left + toPixel(this.ax, x), top: this.box.top + (this.#pointer?.py ?? 0) };
    this.events.pick(hits(this.data.lines, x, this.#pointer, this.ax, this.ay, this.right ?? this.ay), x, at);
  }

  #scheduleOver(): void {
    if (this.#isGone) return;
    this.#overFrame ||= requestAnimationFrame(() => {
      this.#overFrame = 0;
      this.#drawOver();
    });
  }

  #drawOver(): void {
    const ctx = this.#pen(this.over);
    if (!ctx) return;
    const { box, theme } = this;
    ctx.clearRect(0, 0, box.left + box.width + this.#margin, box.height + TOP + BOTTOM + TITLE);
    if (this.#marks) drawMarks(ctx, this.#marks, this.ax, box, theme.accent);
    if (this.#selection) {
      ctx.fillStyle = theme.accent;
      ctx.globalAlpha = 0.12;
      ctx.fillRect(
        box.left + this.#selection.left,
        box.top + this.#selection.top,
        this.#selection.width,
        this.#selection.height,
      );
      ctx.globalAlpha = 1;
    }
    this.#drawForward(ctx);
    const { x, owner } = this.crosshair.at;
    if (x === null) {
      if (this.#pointer === null) this.events.hover(null, 0, { left: 0, top: 0 });
      return;
    }
    const px = toPixel(this.ax, x);
    if (px < 0 || px > box.width) return;
    const mine = owner === this;
    ctx.strokeStyle = theme.ink;
    ctx.setLineDash([3, 3]);
    ctx.beginPath();
    ctx.moveTo(Math.round(box.left + px) + 0.5, box.top);
    ctx.lineTo(Math.round(box.left + px) + 0.5, box.top + box.height);
    ctx.stroke();
    ctx.setLineDash([]);
    if (!mine) {
      this.events.hover(null, 0, { left: 0, top: 0 });
      return;
    }
    const found = hits(this.data.lines, x, this.#pointer, this.ax, this.ay, this.right ?? this.ay, MOST_HOVERED);
    this.#emphasise(ctx, found);
    this.events.hover(found, x, { left: box.left + px, top: box.top + (this.#pointer?.py ?? 0) });
  }

  #drawForward(ctx: CanvasRenderingContext2D): void {
    const { forward } = this;
    const isDimmed = forward.length > 0 && forward.length < this.data.lines.length;
    this.clip.style.opacity = isDimmed ? DIMMED : '';
    this.host.dataset.forward = isDimmed ? String(forward.length) : '';
    if (!isDimmed) return;
    const { box } = this;
    ctx.save();
    ctx.beginPath();
    ctx.rect(box.left, box.top, box.width, box.height);
    ctx.clip();
    ctx.translate(box.left, box.top);
    ctx.lineWidth = 2;
    for (const line of forward.slice(0, MOST_FORWARD)) {
      ctx.strokeStyle = line.colour;
      ctx.setLineDash(line.dash ?? []);
      ctx.beginPath();
      trace(ctx, line, line.y, this.ax, this.axisOf(line));
      ctx.stroke();
    }
    ctx.restore();
  }

  #emphasise(ctx: CanvasRenderingContext2D, found: Hit[]): void {
    const { box, theme } = this;
    ctx.save();
    ctx.beginPath();
    ctx.rect(box.left, box.top - 4, box.width + 4, box.height + 8);
    ctx.clip();
    ctx.translate(box.left, box.top);
    const nearest = found[0];
    if (nearest && this.data.lines.length > 1) {
      ctx.strokeStyle = nearest.line.colour;
      ctx.lineWidth = 2.5;
      ctx.beginPath();
      trace(ctx, nearest.line, nearest.line.y, this.ax, this.axisOf(nearest.line));
      ctx.stroke();
    }
    for (const hit of found.slice(0, 12)) {
      if (Number.isNaN(hit.py) || hit.outside) continue;
      ctx.fillStyle = hit.line.colour;
      ctx.strokeStyle = theme.panel;
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      ctx.arc(hit.px, hit.py, 4, 0, 7);
      ctx.fill();
      ctx.stroke();
    }
    ctx.restore();
  }
}
