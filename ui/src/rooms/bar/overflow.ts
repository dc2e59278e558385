// Which controls of a toolbar have no room in its one row. They wrap into rows below, which are out of sight until somebody asks for
// more; this says whether there are such, and hides them from the keyboard and from screen readers while they are out of sight.
import { tick } from 'svelte';

const ROW = 36; // pixels from one row of controls to the next

export interface Overflow {
  /** Looks again, for instance when the rows below came into sight or went. */
  measure(): void;
  stop(): void;
}

/**
 * Follows the sizes of the toolbar and of the controls in it. `reserve` is the room of the button for more, which is there only when
 * it is needed; `tell` is called with whether it is.
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
  measure();
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

/** Presses a control of the toolbar, for a key that means it; where it is out of sight, the rows below come first. */
export async function pressInBar(which: string): Promise<void> {
  const control = document.querySelector<HTMLElement>(`[role=toolbar] ${which}`);
  if (control?.checkVisibility({ visibilityProperty: true }) === false) {
    document.querySelector<HTMLElement>('[role=toolbar] .all')?.click();
    await tick();
    await tick();
  }
  control?.click();
}
