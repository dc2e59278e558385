// Pointer, wheel and touch on a chart: drag zooms x, shift-drag both, alt-drag or the middle button pans, Ctrl with the
// wheel zooms around the pointer, two fingers zoom x, a click picks what is there, a double click shows all again;
// a drag along the y axis zooms y.
import type { Plot, PlotZoom } from './plot';
import { roundAt, type Range } from './scale';

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}
export interface GestureEvents {
  move(pointer: { px: number; py: number } | null): void;
  select(box: Box | null): void;
  click(): void;
  zoom(zoom: PlotZoom | null): void;
}

const LEAST = 5; // pixels: less is a click

function inside(plot: Plot, e: { clientX: number; clientY: number }): { px: number; py: number; within: boolean } {
  const at = plot.host.getBoundingClientRect();
  const px = e.clientX - at.left - plot.box.left;
  const py = e.clientY - at.top - plot.box.top;
  const within = px >= -4 && py >= -6 && px <= plot.box.width + 4 && py <= plot.box.height + 20;
  return { px: Math.min(Math.max(px, 0), plot.box.width), py: Math.min(Math.max(py, 0), plot.box.height), within };
}

const rangeAt = (axis: Plot['ax'], p0: number, p1: number): Range => {
  const a = roundAt(axis, p0);
  const b = roundAt(axis, p1);
  return a < b ? [a, b] : [b, a];
};

/** The strip beside the y axis: a drag along it zooms y alone; a click there is its own. */
export function attachStrip(plot: Plot, strip: HTMLElement, events: GestureEvents): () => void {
  const stop = new AbortController();
  const opts = { signal: stop.signal };
  let from: number | null = null;
  let moved = false;
  const boxTo = (e: PointerEvent, start: number): Box => {
    const { py } = inside(plot, e);
    return { left: 0, top: Math.min(start, py), width: plot.box.width, height: Math.abs(start - py) };
  };
  strip.addEventListener(
    'pointerdown',
    (e) => {
      moved = false;
      if (e.button !== 0 || e.pointerType === 'touch') return;
      from = inside(plot, e).py;
      strip.setPointerCapture(e.pointerId);
    },
    opts,
  );
  strip.addEventListener('pointermove', (e) => from !== null && events.select(boxTo(e, from)), opts);
  const end = (e: PointerEvent) => {
    if (from === null) return;
    const box = boxTo(e, from);
    from = null;
    events.select(null);
    moved = box.height >= LEAST;
    if (moved && e.type === 'pointerup')
      events.zoom({ x: plot.data.zoom?.x ?? null, y: rangeAt(plot.ay, box.top, box.top + box.height) });
  };
  strip.addEventListener('pointerup', end, opts);
  strip.addEventListener('pointercancel', end, opts);
  strip.addEventListener('click', (e) => moved && e.stopPropagation(), { ...opts, capture: true });
  return () => stop.abort();
}

export function attachGestures(plot: Plot, events: GestureEvents): () => void {
  const { host } = plot;
  const stop = new AbortController();
  const opts = { signal: stop.signal };
  const fingers = new Map<number, number>();
  let drag: {
    px: number;
    py: number;
    both: boolean;
    pan: boolean;
    zoom: PlotZoom;
    ax: Plot['ax'];
    ay: Plot['ay'];
  } | null = null;

  const boxOf = (at: { px: number; py: number }): Box => {
    const d = drag;
    if (!d) return { left: 0, top: 0, width: 0, height: 0 };
    const left = Math.min(d.px, at.px);
    const width = Math.abs(d.px - at.px);
    if (!d.both) return { left, top: 0, width, height: plot.box.height };
    return { left, top: Math.min(d.py, at.py), width, height: Math.abs(d.py - at.py) };
  };

  host.addEventListener(
    'pointerdown',
    (e) => {
      const at = inside(plot, e);
      if (!at.within) return;
      if (e.pointerType === 'touch') {
        fingers.set(e.pointerId, at.px);
        events.move(at);
        return;
      }
      if (e.button !== 0 && e.button !== 1) return;
      drag = {
        ...at,
        both: e.shiftKey,
        pan: e.altKey || e.button === 1,
        zoom: plot.data.zoom ?? { x: null, y: null },
        ax: plot.ax,
        ay: plot.ay,
      };
      host.setPointerCapture(e.pointerId);
    },
    opts,
  );

  host.addEventListener(
    'pointermove',
    (e) => {
      const at = inside(plot, e);
      if (e.pointerType === 'touch' && fingers.size === 2 && fingers.has(e.pointerId)) {
        const [a, b] = [...fingers.values()];
        fingers.set(e.pointerId, at.px);
        const [c, d] = [...fingers.values()];
        if (Math.abs(c - d) > 10 && Math.abs(a - b) > 10) {
          const scale = (a - b) / (c - d);
          events.zoom({
            x: rangeAt(plot.ax, a - c * scale, a + (plot.box.width - c) * scale),
            y: plot.data.zoom?.y ?? null,
          });
        }
        return;
      }
      if (drag?.pan) {
        const dx = drag.px - at.px;
        const dy = drag.py - at.py;
        const x = rangeAt(drag.ax, dx, plot.box.width + dx);
        const y = rangeAt(drag.ay, plot.box.height + dy, dy);
        if (Math.abs(dx) + Math.abs(dy) > LEAST) events.zoom({ x, y });
        return;
      }
      if (drag) {
        events.select(boxOf(at));
        events.move(null);
        return;
      }
      events.move(at.within ? at : null);
    },
    opts,
  );

  const end = (e: PointerEvent) => {
    fingers.delete(e.pointerId);
    const done = drag;
    if (!done) return;
    const box = boxOf(inside(plot, e));
    drag = null;
    events.select(null);
    if (!done.pan && e.type === 'pointerup' && box.width < LEAST && (!done.both || box.height < LEAST)) events.click();
    if (done.pan || e.type === 'pointercancel' || box.width < LEAST) return;
    events.zoom({
      x: rangeAt(plot.ax, box.left, box.left + box.width),
      y:
        done.both && box.height >= LEAST
          ? rangeAt(plot.ay, box.top, box.top + box.height)
          : (plot.data.zoom?.y ?? null),
    });
  };
  host.addEventListener('pointerup', end, opts);
  host.addEventListener('pointercancel', end, opts);
  host.addEventListener('pointerleave', () => !drag && events.move(null), opts);
  host.addEventListener('dblclick', () => events.zoom(null), opts);
  host.addEventListener(
    'wheel',
    (e) => {
      if (!e.ctrlKey && !e.metaKey && !e.altKey) return;
      e.preventDefault();
      const at = inside(plot, e);
      const scale = Math.exp(Math.max(-1, Math.min(1, e.deltaY * 0.004)));
      const x = rangeAt(plot.ax, at.px * (1 - scale), at.px + (plot.box.width - at.px) * scale);
      const y = e.shiftKey
        ? rangeAt(plot.ay, at.py * (1 - scale), at.py + (plot.box.height - at.py) * scale)
        : (plot.data.zoom?.y ?? null);
      events.zoom({ x, y });
    },
    { ...opts, passive: false },
  );
  return () => stop.abort();
}
