// Tells when the device pixel ratio changes: the window went to another monitor, or the browser zooms. The CSS size of
// a chart often stays the same then, so a ResizeObserver says nothing. One media query for all charts; it names the
// present ratio, so it is made anew after each change.

const listeners = new Set<() => void>();
let query: MediaQueryList | null = null;

function watch(): void {
  query?.removeEventListener('change', changed);
  query = listeners.size ? matchMedia(`(resolution: ${devicePixelRatio}dppx)`) : null;
  query?.addEventListener('change', changed);
}

function changed(): void {
  watch();
  for (const listener of listeners) listener();
}

/** Calls back after each change; returns the function that stops it. */
export function onPixelRatio(listener: () => void): () => void {
  listeners.add(listener);
  if (!query) watch();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) watch();
  };
}
