// Pointer gestures of the timeline: moving, zooming, selecting a time range.
import { dragPointer } from '../../../public';
import type { TimeCamera } from './camera.svelte';
import { profileView as v } from '../view.svelte';

const ZOOM = 0.0022;
const SLOP = 3; // pixels that a click may move

export const placeIn = (e: { clientX: number; clientY: number }, of: Element) => {
  const box = of.getBoundingClientRect();
  return { x: e.clientX - box.left, y: e.clientY - box.top };
};

/** A drag that begins here selects a range; a click clears it. */
export function selectRange(camera: TimeCamera, e: PointerEvent, element: Element): void {
  const start = camera.at(placeIn(e, element).x);
  let moved = false;
  dragPointer(e, {
    move(m) {
      if (Math.abs(m.clientX - e.clientX) > SLOP) moved = true;
      if (!moved) return;
      const now = camera.at(placeIn(m, element).x);
      v.range = [Math.min(start, now), Math.max(start, now)];
    },
    end(done) {
      if (done && !moved) v.range = null;
    },
  });
}

/** Where the fingers, or the mouse, are that are down on the timeline, by pointer. */
const down = new Map<number, PointerEvent>();
/** Were there two at once? Then lifting one that did not move is no click. */
let hadTwo = false;

/** A drag that begins here moves the time and scrolls, two fingers zoom; `click` is told where it ended when it did not move. */
export function moveTime(
  camera: TimeCamera,
  e: PointerEvent,
  scroller: Element | undefined,
  click: (at: { x: number; y: number }) => void,
): void {
  const element = e.currentTarget as Element;
  let last = { x: e.clientX, y: e.clientY };
  let moved = false;
  hadTwo = down.size > 0;
  down.set(e.pointerId, e);
  dragPointer(e, {
    move(m) {
      down.set(m.pointerId, m);
      if (Math.hypot(m.clientX - e.clientX, m.clientY - e.clientY) > SLOP) moved = true;
      if (!moved) return;
      const other = [...down.values()].find(({ pointerId }) => pointerId !== m.pointerId);
      if (other) {
        // what is under each finger stays there
        const [was, is] = [Math.abs(last.x - other.clientX), Math.abs(m.clientX - other.clientX)];
        if (was > 0 && is > 0) camera.zoomAt(camera.at(placeIn(other, element).x), is / was);
      } else {
        camera.pan(last.x - m.clientX);
        if (scroller) scroller.scrollTop += last.y - m.clientY;
      }
      last = { x: m.clientX, y: m.clientY };
    },
    end(done, m) {
      down.delete(e.pointerId);
      if (done && !moved && !hadTwo && m instanceof PointerEvent) click(placeIn(m, element));
    },
  });
}

/** An attachment: the wheel zooms with Ctrl, or `always`; with Shift, or sideways, it moves. */
export const wheels = (camera: TimeCamera, always: boolean) => (node: HTMLElement) => {
  const onwheel = (e: WheelEvent) => {
    const by = e.deltaY * (e.deltaMode ? 16 : 1);
    if (e.ctrlKey || e.metaKey || (always && !e.shiftKey)) {
      e.preventDefault();
      camera.zoomAt(camera.at(placeIn(e, node).x), Math.exp(-by * ZOOM));
    } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      e.preventDefault();
      camera.pan(e.deltaX || by);
    }
  };
  node.addEventListener('wheel', onwheel, { passive: false });
  return () => node.removeEventListener('wheel', onwheel);
};
