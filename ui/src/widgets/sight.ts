// Tells whether an element can be seen: {@attach inSight((isSeen) => ...)}.
import type { Attachment } from 'svelte/attachments';

export const inSight =
  (tell: (isSeen: boolean) => void): Attachment =>
  (node) => {
    const observer = new IntersectionObserver((entries) => tell(entries[entries.length - 1].isIntersecting));
    observer.observe(node);
    return () => observer.disconnect();
  };
