// Pointer, wheel and touch on a chart: drag zooms x, shift-drag both, alt-drag or the middle button pans, Ctrl with the
// wheel zooms around the pointer, two fingers zoom x, a click pins the tooltip, a double click resets the zoom;
// a drag along the y axis zooms y.
import { dragPointer } from '../drag';
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

/** The strip beside the y axis: a drag along it zooms y alone; a click there opens the form of the axis. */
export function attachStrip(plot: Plot, strip: HTMLElement, events: GestureEvents): () => void {
  const stop = new AbortController();
  const opts = { signal: stop.signal };
  let cancel: (() => void) | null = null;
  let moved = false;
  const boxTo = (e: PointerEvent, start: number): Box => {
    const { py } = inside(plot, e);
    return { left: 0, top: Math.min(start, py), width: plot.box.width, height: Math.abs(start - py) };
  };
  const ondown = (e: PointerEvent) => {
    moved = false;
    if (e.button !== 0 || e.pointerType === 'touch') return;
    const from = inside(plot, e).py;
    let box = boxTo(e, from);
    strip.setPointerCapture(e.pointerId);
    cancel = dragPointer(e, {
      move: (m) => events.select((box = boxTo(m, from))),
      end: (done) => {
        events.select(null);
        moved = box.height >= LEAST;
        if (moved && done)
          events.zoom({ x: plot.data.zoom?.x ?? null, y: rangeAt(plot.ay, box.top, box.top + box.height) });
      },
    });
  };
  strip.addEventListener('pointerdown', ondown, opts);
  strip.addEventListener('click', (e) => moved && e.stopPropagation(), { ...opts, capture: true });
  return () => {
    stop.abort();
    cancel?.();
  };
}

interface Spot {
  px: number;
  py: number;
}
/** What is dragged over the chart with a mouse or a pen. */
interface Drag extends Spot {
  both: boolean; // x and y, not x alone
  pan: boolean;
  zoom: PlotZoom | null; // from before
  ax: Plot['ax'];
  ay: Plot['ay'];
}

export function attachGestures(plot: Plot, events: GestureEvents): () => void {
  const { host } = plot;
  const stop = new AbortController();
  const opts = { signal: stop.signal };
  const fingers = new Map<number, number>();
  let cancel: (() => void) | null = null;
  let isDragging = false;

  const boxOf = (d: Drag, at: Spot): Box => {
    const left = Math.min(d.px, at.px);
    const width = Math.abs(d.px - at.px);
    if (!d.both) return { left, top: 0, width, height: plot.box.height };
    return { left, top: Math.min(d.py, at.py), width, height: Math.abs(d.py - at.py) };
  };
  const pan = (d: Drag, at: Spot) => {
    const dx = d.px - at.px;
    const dy = d.py - at.py;
    const x = rangeAt(d.ax, dx, plot.box.width + dx);
    const y = rangeAt(d.ay, plot.box.height + dy, dy);
    if (Math.abs(dx) + Math.abs(dy) > LEAST) events.zoom({ x, y });
  };
  const zoomTo = (d: Drag, box: Box) =>
    events.zoom({
      x: rangeAt(plot.ax, box.left, box.left + box.width),
      y: d.both && box.height >= LEAST ? rangeAt(plot.ay, box.top, box.top + box.height) : (plot.data.zoom?.y ?? null),
    });

  function drag(e: PointerEvent, d: Drag) {
    let box = boxOf(d, d);
    let hasPanned = false;
    isDragging = true;
    host.setPointerCapture(e.pointerId);
    const move = (m: PointerEvent) => {
      const at = inside(plot, m);
      if (d.pan) {
        hasPanned = true;
        pan(d, at);
        return;
      }
      events.select((box = boxOf(d, at)));
      events.move(null);
    };
    const end = (done: boolean) => {
      isDragging = false;
      events.select(null);
      if (d.pan) {
        if (!done && hasPanned) events.zoom(d.zoom);
      } else if (done && box.width >= LEAST) zoomTo(d, box);
      else if (done && (!d.both || box.height < LEAST)) events.click();
    };
    cancel = dragPointer(e, { move, end });
  }
  const pinch = (e: PointerEvent, px: number) => {
    const [a, b] = [...fingers.values()];
    fingers.set(e.pointerId, px);
    const [c, d] = [...fingers.values()];
    if (Math.abs(c - d) <= 10 || Math.abs(a - b) <= 10) return;
    const scale = (a - b) / (c - d);
    events.zoom({
      x: rangeAt(plot.ax, a - c * scale, a + (plot.box.width - c) * scale),
      y: plot.data.zoom?.y ?? null,
    });
  };

  host.addEventListener(
    'pointerdown',
    (e) => {
      const at = inside(plot, e);
      if (!at.within) return;
      if (e.pointerType === 'touch') {
        fingers.set(e.pointerId, at.px);
        events.move(at);
      } else if (e.button === 0 || e.button === 1) {
        const isPan = e.altKey || e.button === 1;
        drag(e, { ...at, both: e.shiftKey, pan: isPan, zoom: plot.data.zoom, ax: plot.ax, ay: plot.ay });
      }
    },
    opts,
  );
  host.addEventListener(
    'pointermove',
    (e) => {
      if (isDragging) return;
      const at = inside(plot, e);
      if (e.pointerType === 'touch' && fingers.size === 2 && fingers.has(e.pointerId)) pinch(e, at.px);
      else events.move(at.within ? at : null);
    },
    opts,
  );
  const lift = (e: PointerEvent) => fingers.delete(e.pointerId);
  host.addEventListener('pointerup', lift, opts);
  host.addEventListener(
    'pointercancel',
    (e) => {
      lift(e);
      events.move(null);
    },
    opts,
  );
  // a finger that is lifted leaves the crosshair where it was; the next tap elsewhere takes it away
  host.addEventListener(
    'pointerleave',
    (e) => {
      if (e.pointerType !== 'touch' && !isDragging) events.move(null);
    },
    opts,
  );
  window.addEventListener(
    'pointerdown',
    (e) => {
      if (e.pointerType === 'touch' && e.target instanceof Node && !host.contains(e.target)) plot.leave();
    },
    opts,
  );
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
  return () => {
    stop.abort();
    cancel?.();
  };
}
