// Tells the size of an element: {@attach sized((width, height) => ...)}. First after the next layout of the page, before it
// is painted, and then whenever the size changes. Svelte's bind:clientWidth asks the element at once, which forces a layout
// while the page is still being put together.
import type { Attachment } from 'svelte/attachments';

/** The sizes are those of the content box, in whole pixels. */
export const sized =
  (tell: (width: number, height: number) => void): Attachment =>
  (node) => {
    const observer = new ResizeObserver((entries) => {
      const { width, height } = entries[entries.length - 1].contentRect;
      tell(Math.round(width), Math.round(height));
    });
    observer.observe(node);
    return () => observer.disconnect();
  };
