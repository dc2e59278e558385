// A part of the page whose code is loaded when it is first needed. When it cannot be loaded, it is tried again with
// back-off until nobody wants it any more; whoever waits is told of every failure.
import { backoff } from '../base/backoff';

export async function loadPart<T>(
  load: () => Promise<T>,
  onFailure: (error: unknown) => void,
  signal: AbortSignal,
): Promise<T | null> {
  for (let failures = 1; ; failures++) {
    try {
      return await load();
    } catch (e) {
      if (signal.aborted) return null;
      onFailure(e);
      await new Promise<void>((done) => {
        const timer = setTimeout(done, backoff(failures));
        signal.addEventListener('abort', () => (clearTimeout(timer), done()), { once: true });
      });
      if (signal.aborted) return null;
    }
  }
}
