// Where things are, and how the browser is started.
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The headless shell is Chromium's engine without the windows of a desktop: a page costs a third of the time. */
export const BROWSER =
  process.env.SEABOARD_BROWSER ?? ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync);
/** No sandbox, which containers do not allow, and nothing that a browser does on its own account. */
export const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
];
export const ROOT = resolve(import.meta.dirname, '../..');
/** Screenshots and measures. */
export const OUT = join(ROOT, 'build/e2e');
mkdirSync(OUT, { recursive: true });
