// Loads and decodes images before they are shown, so that one replaces another without flickering. A limited number is
// kept: neighbours of the shown step, and images that were shown recently. The least recently used are removed first.
import { ahead, type Load } from '../../../rooms/media/ahead';

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

/** Is any image that is wanted now still loading? */
export const isLoading = (): boolean => pending > 0;

const pixelsOf = ({ image }: Held): number => image.naturalWidth * image.naturalHeight;
const sumOf = (some: readonly Held[]): number => some.reduce((sum, one) => sum + pixelsOf(one), 0);

function evict(): void {
  let pixels = sumOf([...held.values()]);
  for (const [url, entry] of held) {
    if (held.size <= MOST && pixels <= MOST_PIXELS) return;
    if (entry.users > 0) continue;
    pixels -= pixelsOf(entry);
    held.delete(url);
  }
}
/** Is there space for another image beside those in use? */
function hasRoom(): boolean {
  const used = [...held.values()].filter(({ users }) => users > 0);
  return used.length < MOST && sumOf(used) < MOST_PIXELS;
}

function take(url: string, priority: 'high' | 'low'): Held {
  const known = held.get(url);
  if (known) {
    held.delete(url);
    held.set(url, known); // moved to the end: the map is ordered by last use, oldest first
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
  /** Is it already decoded? */
  isReady: boolean;
  /** resolves to false if the image cannot be loaded or decoded */
  ready: Promise<boolean>;
  image: HTMLImageElement;
  size: () => [number, number];
  /** Says that the image is not wanted any more. */
  drop: () => void;
}

/** Marks the image as used until the returned function is called. */
function use(url: string, entry: Held): () => void {
  entry.users++;
  evict();
  let isDropped = false;
  return () => {
    if (isDropped) return;
    isDropped = true;
    entry.users--;
    // An image that was wanted only while a slider was moved past it is cancelled, unless other code starts to use it
    // right now.
    queueMicrotask(() => {
      if (entry.users > 0 || entry.isReady || held.get(url) !== entry) return;
      held.delete(url);
      entry.image.src = '';
    });
  };
}

/** Loads an image that is visible. */
export function load(url: string): Loading {
  const entry = take(url, 'high');
  if (!entry.isReady) {
    pending++;
    const release = ahead.hold();
    void entry.ready.then(() => {
      pending--;
      release();
    });
  }
  return {
    isReady: entry.isReady,
    ready: entry.ready,
    image: entry.image,
    size: () => [entry.image.naturalWidth, entry.image.naturalHeight],
    drop: use(url, entry),
  };
}

/** Prefetches an image that may be wanted next; to be passed to `ahead.want`. */
export function loadAhead(url: string): Load {
  if (!held.has(url) && !hasRoom()) return { over: Promise.resolve(), drop: () => undefined };
  const entry = take(url, 'low');
  return { over: entry.ready, drop: use(url, entry) };
}
