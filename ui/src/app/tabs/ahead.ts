// Fetches all files of a dashboard at once, before its code is imported: an import alone finds the files that a file needs only
// after it has come. Which files those are is known only after the build, and in a script of its own that the page has from the
// start (vite.config.ts); without it they come one after another.
declare global {
  var seaboardAhead: ((tab: string) => void) | undefined;
}

const asked = new Set<string>();

export function fetchAhead(tab: string): void {
  if (asked.has(tab)) return;
  asked.add(tab);
  globalThis.seaboardAhead?.(tab);
}
