// Whether this page can be seen, and when to try again what failed. A page in a hidden tab asks the server for nothing;
// it catches up when it is shown.

export const isHidden = (): boolean => document.hidden;

/** Calls `run` each time the page is shown after it was hidden. */
export function onShown(run: () => void, signal?: AbortSignal): void {
  document.addEventListener('visibilitychange', () => !document.hidden && run(), { signal });
}

/** Is this page from before an upgrade of the server: does the server hand out other scripts now? */
export async function isPageOutdated(): Promise<boolean> {
  try {
    const reply = await fetch(new URL('./', document.baseURI).href, { cache: 'no-store', credentials: 'same-origin' });
    if (!reply.ok) return false;
    const text = await reply.text();
    const names = [...document.scripts].map((script) => script.src.slice(script.src.lastIndexOf('/') + 1));
    return names.some((name) => name !== '' && !text.includes(name));
  } catch {
    return false; // no connection: nothing is known
  }
}
