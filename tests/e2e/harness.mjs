// What the browser tests share: servers over made logs, pages that note their errors, waiting, screenshots.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { writeDemo, writeForest, writeMany, writeTags } from './logs.mjs';
import { BROWSER, CHROMIUM_ARGS, OUT, ROOT } from './places.mjs';

export { OUT, ROOT };
const require = createRequire(join(ROOT, 'ui/package.json'));
const { chromium } = require('playwright-core');
const AxeBuilder = require('@axe-core/playwright').default;
const BINARY = process.env.SEABOARD_BIN ?? join(ROOT, 'build/seaboard');
/** How many times slower than this machine the pages run: finds tests that do not wait for what they look at. */
const SLOWER = Number(process.env.SEABOARD_E2E_SLOWER ?? 1);
const LATE_MS = Number(process.env.SEABOARD_E2E_LATE ?? 0);
const LOGS = {
  demo: writeDemo,
  many: writeMany,
  forest: writeForest,
  grove: (logdir) => writeForest(logdir, 120),
  tags: writeTags,
  empty: () => {},
};

/** The folder of all logs: made when it is first needed, since run.mjs imports the tests and runs none. */
let home;
const inHome = (name) => join((home ??= mkdtempSync(join(tmpdir(), 'seaboard-e2e-'))), name);
const servers = new Map();
/** Every server that runs; and those among them that belong to the test that runs, and end with it. */
const running = new Set();
const ofTest = new Set();
export const measures = {};
/** Pages of the test that runs, from the moment they are there: what they say is told also when they never get ready. */
export const opened = new Set();
let browser;

export class Server {
  constructor(logdir) {
    this.logdir = logdir;
    this.port = 0;
  }
  /** On a port the system chooses the first time, on the same one again after a stop. */
  async start() {
    this.child = spawn(BINARY, ['--logdir', this.logdir, '--port', String(this.port), '--host', '127.0.0.1'], {
      env: {
        ...process.env,
        XDG_STATE_HOME: inHome('state'),
        TMPDIR: inHome(''),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.isStopped = false;
    running.add(this);
    this.gone = new Promise((done) => this.child.on('exit', done));
    this.url = await new Promise((done, failed) => {
      let text = '';
      const read = (chunk) => {
        text += chunk;
        const found = /http:\/\/[^\s/]+:(\d+)\//.exec(text);
        if (!found) return;
        this.port = Number(found[1]);
        done(`http://127.0.0.1:${this.port}/`);
      };
      this.child.stdout.on('data', read);
      this.child.stderr.on('data', read);
      this.child.on('exit', (code) => failed(new Error(`the server ended with ${code}: ${text}`)));
    });
    return this;
  }
  /** Once it has ended; a server that was stopped before stays so. */
  async stop() {
    this.isStopped = true;
    running.delete(this);
    this.child.kill('SIGTERM');
    await this.gone;
  }
}

/** A server over a new folder, which is filled first, read to its end: of runs that come while the server looks, the
 * list has the order in which it found them. */
async function serveNew(fill, owners) {
  const server = new Server(mkdtempSync(inHome('fresh-')));
  owners?.add(server);
  server.filled = await fill(server.logdir);
  await server.start();
  await loaded(server);
  return server;
}

/** A server over one of the made logs, started once; or over a fresh folder that `fill` writes, which ends with its test. */
export async function serve(kind, fill = () => {}) {
  if (kind === 'fresh') return serveNew(fill, ofTest);
  if (!servers.has(kind)) {
    const logdir = inHome(kind);
    mkdirSync(logdir, { recursive: true });
    LOGS[kind](logdir);
    servers.set(kind, new Server(logdir).start());
  }
  return servers.get(kind);
}

/** A function that gives a server over a log that several tests of one file read: started once, for the whole run. */
export function sharedServer(fill) {
  let started;
  return () => (started ??= serveNew(fill));
}

export async function loaded(server) {
  for (;;) {
    const status = await (await fetch(`${server.url}api/v1/status`)).json();
    if (!status.loading.isLoading) return status;
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** A page; what it logs as an error, and every request elsewhere, fails the test. */
export async function open(server, hash = '', options = {}) {
  browser ??= await chromium.launch({ executablePath: BROWSER, args: CHROMIUM_ARGS });
  const { allowErrors = false, query = '', before = () => {}, ...rest } = options;
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    acceptDownloads: true,
    ...rest,
  });
  const page = await context.newPage();
  opened.add(page);
  measureAtRest(page);
  if (SLOWER > 1) await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  if (LATE_MS > 0) await page.addInitScript(timersAreLate, LATE_MS);
  page.problems = [];
  page.on('pageerror', (e) => page.problems.push(e.stack ?? e.message));
  // a page that outlives its server asks in vain, and one that is ending refuses: no fault of the page
  const inVain = (text) => server.isStopped && /net::ERR_|status of 503/.test(text);
  // a test whose requests fail on purpose expects errors of the browser, but never a warning
  page.on('console', (m) => {
    const isFault = m.type() === 'warning' || (m.type() === 'error' && !allowErrors);
    if (isFault && !inVain(m.text())) page.problems.push(m.text());
  });
  page.on(
    'request',
    (r) =>
      /^(https?|wss?):/.test(r.url()) &&
      !r.url().startsWith(server.url) &&
      page.problems.push(`left the server: ${r.url()}`),
  );
  for (const way of ['press', 'type']) {
    const native = page.keyboard[way].bind(page.keyboard);
    page.keyboard[way] = (...what) => caughtUp(page).then(() => native(...what));
  }
  await before(page);
  await page.goto(server.url + query + hash);
  return page;
}
/** As on a machine that is busy: input of the user is handled before timers that were due. */
function timersAreLate(ms) {
  const native = window.setTimeout;
  window.setTimeout = (call, after = 0, ...args) => native(call, after + ms, ...args);
}
/** A person sees what a click opened before pressing a key; a test waits for the next frame and what is due by then. */
const caughtUp = (page) =>
  page.evaluate(
    () =>
      new Promise((done) => {
        requestAnimationFrame(() => setTimeout(done));
        setTimeout(done, 250); // pages that are not shown have no frames
      }),
  );
/** Boxes are those of a page at rest: what still moves is measured again. */
function measureAtRest(page) {
  const Locator = Object.getPrototypeOf(page.locator('html'));
  if (Locator.measure) return;
  Locator.measure = Locator.boundingBox;
  Locator.boundingBox = async function (...how) {
    let box = await this.measure(...how);
    for (let looks = 0; looks < 20; looks++) {
      await caughtUp(this.page());
      const next = await this.measure(...how);
      if (isDeepStrictEqual(box, next)) break;
      box = next;
    }
    return box;
  };
}
/** For `before`: these requests fail as if the disk were gone, while `isBroken()`; the page may try again after so many seconds. */
export const diskIsGone =
  (requests, isBroken = () => true, retryAfter = 0) =>
  (page) =>
    page.route(requests, (route) =>
      isBroken()
        ? route.fulfill({
            status: 500,
            contentType: 'application/json',
            ...(retryAfter && { headers: { 'Retry-After': String(retryAfter) } }),
            body: '{"error":{"code":"io","message":"the disk is gone"}}',
          })
        : route.continue(),
    );
export const CHART = '.plot[data-painted]:not([data-painted="0"])';
export async function openCharts(kind, hash = '', options = {}) {
  const server = typeof kind === 'string' ? await serve(kind) : kind;
  await loaded(server);
  const page = await open(server, hash, options);
  await page.waitForSelector(CHART);
  await drawn(page);
  return page;
}
/** Waits until every card in sight has what it shows: a pointer or a key on a chart without lines does nothing. */
export const drawn = (page) =>
  page.waitForFunction(() =>
    [...document.querySelectorAll('.skeleton, .soon')].every((waiting) => {
      const { top, bottom } = waiting.getBoundingClientRect();
      return bottom <= 0 || top >= innerHeight;
    }),
  );
export const card = (page, tag) => page.locator(`.slot [data-tag="${tag}"]`).first();
export const shot = (page, name) => page.screenshot({ path: join(OUT, `${name}.png`) });

/** How long to wait for what should come: for machines that are busy, never for what is tested. */
const PATIENCE_MS = 30_000;

export async function until(what, isSo, ms = PATIENCE_MS) {
  const end = Date.now() + ms;
  for (;;) {
    const got = await isSo();
    if (got) return got;
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((done) => setTimeout(done, 40));
  }
}

/** Tries an assertion about what the page shows until it holds: pages follow a click a little later. */
export async function soon(holds, ms = PATIENCE_MS) {
  const end = Date.now() + ms;
  for (;;) {
    try {
      return await holds();
    } catch (e) {
      if (!(e instanceof assert.AssertionError) || Date.now() > end) throw e;
    }
    await new Promise((done) => setTimeout(done, 40));
  }
}

/** Waits until the server keeps what the page shows already: a page that is loaded before that reads the old state. */
export const kept = (server, key, isSo) =>
  until(`the server keeps ${key}`, async () => {
    const { items } = await (await fetch(`${server.url}api/v1/state`)).json();
    return isSo(items[key] ?? {});
  });

/** The address when it has followed the view, which it does 120 ms behind: its timer is older than this one. */
export const address = (page) => page.evaluate(() => new Promise((done) => setTimeout(() => done(location.hash), 130)));

/** What axe finds in the page, or within one part of it, as an assertion. */
export async function axe(page, where, within = '') {
  const builder = new AxeBuilder({ page });
  const found = await (within ? builder.include(within) : builder).analyze();
  const text = found.violations
    .map(
      (v) =>
        `${where}: ${v.id} ${v.nodes
          .slice(0, 3)
          .map((n) => `${n.target} ${n.failureSummary}`)
          .join(' | ')}`,
    )
    .join('\n');
  assert.equal(text, '');
}

/** A card's chart as its menu exports it. */
export async function svgOf(page, tag) {
  const chart = card(page, tag);
  await chart.locator(CHART).waitFor();
  await chart.hover();
  await chart.locator('[aria-haspopup=menu]').click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: /SVG/ }).click(),
  ]);
  let text = '';
  for await (const part of await download.createReadStream()) text += part;
  return text;
}

/** Closes the pages of the test that ran, then ends its servers: a worker that kept them all would use up the inotify
 * instances that the system gives a user. */
export async function endTest() {
  for (const page of opened)
    await page
      .context()
      .close()
      .catch(() => {});
  opened.clear();
  for (const server of ofTest) {
    if (server.child) await server.stop();
    rmSync(server.logdir, { recursive: true, force: true });
  }
  ofTest.clear();
}

export async function end() {
  await browser?.close();
  await Promise.all([...running].map((server) => server.stop()));
  if (home) rmSync(home, { recursive: true, force: true });
}
