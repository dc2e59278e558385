// Finds the controls of a toolbar that do not fit into its one row. They wrap into rows below, which are hidden until the
// viewer opens them. This module tells whether there are such controls, and hides them from the keyboard and from screen
// readers while their rows are hidden.
import { tick } from 'svelte';

const ROW = 36; // pixels from one row of controls to the next

export interface Overflow {
  /** Measures again, for instance after the rows below were shown or hidden. */
  measure(): void;
  stop(): void;
}

/**
 * Observes the sizes of the toolbar and of its controls. `reserve` is the width in pixels of the button "More", which
 * exists only if some control does not fit; `tell` is called with whether that is so.
 */
export function followOverflow(
  bar: HTMLElement,
  reserve: number,
  isOpen: () => boolean,
  tell: (isOver: boolean) => void,
): Overflow {
  const measure = () => {
    const shown = [...bar.children].filter(
      (child): child is HTMLElement =>
        child instanceof HTMLElement && child.offsetParent !== null && !child.matches('[popover]'),
    );
    const isBelow = (child: HTMLElement) => child.offsetTop - bar.offsetTop >= ROW;
    bar.style.paddingRight = '';
    const isOver = shown.some(isBelow);
    if (isOver) bar.style.paddingRight = `${reserve}px`;
    for (const child of shown) child.style.visibility = isBelow(child) && !isOpen() ? 'hidden' : '';
    tell(isOver);
  };
  let frame = 0;
  const soon = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(measure);
  };
  const sizes = new ResizeObserver(soon);
  const follow = () => {
    sizes.disconnect();
    sizes.observe(bar);
    for (const child of bar.children) sizes.observe(child);
  };
  const children = new MutationObserver(follow);
  children.observe(bar, { childList: true });
  addEventListener('resize', soon);
  follow();
  soon(); // before the next paint: at once it would force a layout of the page while it is being put together
  return {
    measure,
    stop: () => {
      cancelAnimationFrame(frame);
      removeEventListener('resize', soon);
      sizes.disconnect();
      children.disconnect();
    },
  };
}

/**
 * Clicks a control of the toolbar, for the keyboard shortcut of that control. If the control is hidden in the rows below,
 * these are opened first.
 */
export async function pressInBar(which: string): Promise<void> {
  const control = document.querySelector<HTMLElement>(`[role=toolbar] ${which}`);
  if (control?.checkVisibility({ visibilityProperty: true }) === false) {
    document.querySelector<HTMLElement>('[role=toolbar] .all')?.click();
    await tick();
    await tick();
  }
  control?.click();
}
