// Pictures that are loaded and decoded before they are shown, so that one replaces another without a flash. A few are held,
// the longest unused go first: neighbours of the shown step, and what was shown lately.

const MOST = 96;
const MOST_PIXELS = 64e6;

interface Held {
  image: HTMLImageElement;
  ready: Promise<boolean>;
  isReady: boolean;
  users: number;
}
const held = new Map<string, Held>();
let pending = 0;

/** Is something that is wanted now still under way? */
export const isLoading = (): boolean => pending > 0;

function evict(): void {
  let pixels = 0;
  for (const { image } of held.values()) pixels += image.naturalWidth * image.naturalHeight;
  for (const [url, { users, image }] of held) {
    if (held.size <= MOST && pixels <= MOST_PIXELS) return;
    if (users > 0) continue;
    pixels -= image.naturalWidth * image.naturalHeight;
    if (!image.complete) image.src = '';
    held.delete(url);
  }
}

function take(url: string, priority: 'high' | 'low'): Held {
  const known = held.get(url);
  if (known) {
    held.delete(url);
    held.set(url, known); // last: the most recently used
    if (priority === 'high') known.image.fetchPriority = 'high';
    return known;
  }
  const image = new Image();
  image.fetchPriority = priority;
  image.src = url;
  const entry: Held = { image, ready: Promise.resolve(false), isReady: false, users: 0 };
  entry.ready = image.decode().then(
    () => (entry.isReady = true),
    () => {
      if (held.get(url) === entry) held.delete(url);
      return false;
    },
  );
  held.set(url, entry);
  return entry;
}

export interface Loading {
  /** Is it decoded already? */
  isReady: boolean;
  /** false: it can't be loaded or decoded */
  ready: Promise<boolean>;
  image: HTMLImageElement;
  size: () => [number, number];
  /** It is not wanted any more. */
  drop: () => void;
}

export function load(url: string): Loading {
  const entry = take(url, 'high');
  entry.users++;
  if (!entry.isReady) {
    pending++;
    void entry.ready.then(() => pending--);
  }
  evict();
  let isDropped = false;
  return {
    isReady: entry.isReady,
    ready: entry.ready,
    image: entry.image,
    size: () => [entry.image.naturalWidth, entry.image.naturalHeight],
    drop: () => {
      if (isDropped) return;
      isDropped = true;
      entry.users--;
      // a picture that the hand went over on its way is not worth its bytes
      if (entry.users === 0 && !entry.isReady && held.get(url) === entry) {
        held.delete(url);
        entry.image.src = '';
      }
    },
  };
}

/** It may be wanted next. */
export function prefetch(url: string): void {
  if (pending === 0) take(url, 'low');
  evict();
}
