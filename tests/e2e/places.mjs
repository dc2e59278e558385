// Where things are.
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The headless shell is Chromium's engine without the windows of a desktop: a page costs a third of the time. */
export const BROWSER =
  process.env.SEABOARD_BROWSER ?? ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync);
export const ROOT = resolve(import.meta.dirname, '../..');
/** Screenshots and measures. */
export const OUT = join(ROOT, 'build/e2e');
mkdirSync(OUT, { recursive: true });
