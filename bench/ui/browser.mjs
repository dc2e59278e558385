// Measures a page in Chromium and prints one JSON line: node browser.mjs WHAT URL [PEER]. Nothing is judged here.
//
//   first   bytes of all script that the page fetches by itself, as sent, workers included (the build has a budget for the
//           same sum, ui/tools/sizes.ts); ms from navigation to the first chart with all lines; heap then
//   frames  longest and median ms between frames while the pointer moves over, and zooms into, a thousand lines
//   histograms     ms from navigation to the histograms tab to the first card drawn, and to all in sight; heap then
//   distributions  the same of distributions
//   images  ms from navigation to the images tab to the first picture, and to all in sight; from a move of a step slider to
//           its picture, far away and beside; longest and median frame while scrolling; heap and memory of the page's process
//   graph   ms from navigation to the graph tab to the first picture; the longest task of the page while it opens; longest and
//           median frame and longest task while it pans and zooms, and while boxes are opened; heap then
//   trace   ms from navigation to the timeline of a capture to its first picture (the server reads the file meanwhile); longest and
//           median frame while it zooms and moves; heap and memory of the page's process, and what draws
//   tags    ms until ten thousand tags are listed, and from a keystroke to the filtered page
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { CHROMIUM_ARGS } from '../../tests/e2e/places.mjs';

const require = createRequire(join(resolve(import.meta.dirname, '../..'), 'ui/package.json'));
const { chromium } = require('playwright-core');
const [what, url, peer] = process.argv.slice(2);
const ALL = '.plot[data-painted="1000"]';
const PATIENCE = 60000;

// the browser that people have, not the headless shell that tests use
const executablePath = process.env.SEABOARD_BROWSER ?? '/usr/bin/chromium';
const browser = await chromium.launch({ executablePath, args: CHROMIUM_ARGS });
const page = await (
  await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
  })
).newPage();
page.setDefaultTimeout(PATIENCE);
// a browser that was just started is busy with itself for a moment; people have theirs open
await new Promise((done) => setTimeout(done, 2000));

/**
 * Opens the page and returns the moment when the selector first finds something, noted inside the page. The page tells it by a
 * message on the console: waiting for a function or a locator instead puts 300 KB of Playwright's own script into the page
 * while it loads, 30 ms of its main thread.
 */
const SEEN = 'bench: seen at ';
async function openUntil(selector, address) {
  await page.addInitScript(
    ([wanted, message]) => {
      const looking = new MutationObserver(() => {
        if (!document.querySelector(wanted)) return;
        looking.disconnect();
        console.debug(message + performance.now());
      });
      looking.observe(document, { subtree: true, childList: true, attributes: true });
    },
    [selector, SEEN],
  );
  const told = page.waitForEvent('console', (message) => message.text().startsWith(SEEN));
  await page.goto(address, { waitUntil: 'commit' });
  return Number((await told).text().slice(SEEN.length));
}

/** Every chart in sight has all its lines. */
const allPainted = () =>
  page.waitForFunction(() => {
    const plots = [...document.querySelectorAll('.plot')];
    return plots.length > 0 && plots.every((plot) => plot.dataset.painted === '1000');
  });

async function heap() {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('HeapProfiler.enable');
  await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize, backingStorageSize = 0 } = await cdp.send('Runtime.getHeapUsage');
  return usedSize + backingStorageSize;
}

/** All script that the page has fetched when it asks for nothing more, as it came over the wire; of a page that holds its script inside
 * (TensorBoard's), the page as well. */
async function scriptBytes() {
  await page.evaluate(async () => {
    const count = () => performance.getEntriesByType('resource').length;
    for (let before = -1, quiet = 0; quiet < 10; quiet++) {
      await new Promise((done) => setTimeout(done, 100));
      if (count() !== before) quiet = 0;
      before = count();
    }
  });
  const cdp = await browser.newBrowserCDPSession();
  const { targetInfos } = await cdp.send('Target.getTargets');
  const shared = targetInfos.filter(({ type }) => type === 'shared_worker').map((target) => target.url);
  return page.evaluate(async (workers) => {
    // a shared worker is not among the page's resources before the page asks for its script, too; it comes from the cache
    for (const worker of workers) await (await fetch(worker)).arrayBuffer();
    const of = (kind) => performance.getEntriesByType(kind);
    const scripts = of('resource').filter((r) => /\.js(\?|$)/.test(r.name) || r.initiatorType === 'script');
    const sizes = new Map(scripts.map((r) => [r.name, r.encodedBodySize]));
    const isInside = [...document.scripts].some((script) => script.text !== '');
    return [...sizes.values()].reduce((n, bytes) => n + bytes, isInside ? of('navigation')[0].encodedBodySize : 0);
  }, shared);
}

async function first() {
  const chart = await openUntil(ALL, url);
  await allPainted();
  return {
    chart,
    bytes: await scriptBytes(),
    heap: await heap(),
  };
}

// TensorBoard starts with no run selected when there are more than 500: the box that selects all is clicked as soon as
// it is there, as its user has to.
async function firstOfPeer() {
  const chart = openUntil('scalar-card line-chart canvas, scalar-card line-chart svg path', `${url}#timeseries`);
  await page.locator('runs-data-table input[type=checkbox]').first().click({ force: true });
  return {
    chart: await chart,
    bytes: await scriptBytes(),
    heap: await heap(),
  };
}

/** Longest and median ms between frames while something is done. */
async function record(act) {
  await page.evaluate(() => {
    window.gaps = [];
    let last = 0;
    const tick = (now) => {
      if (last) window.gaps.push(now - last);
      last = now;
      window.ticking = requestAnimationFrame(tick);
    };
    window.ticking = requestAnimationFrame(tick);
  });
  await act();
  const gaps = await page.evaluate(() => (cancelAnimationFrame(window.ticking), window.gaps));
  gaps.sort((a, b) => a - b);
  return { longest: gaps.at(-1), median: gaps[gaps.length >> 1] };
}
const rest = (frames) =>
  page.evaluate(async (n) => {
    for (let i = 0; i < n; i++) await new Promise(requestAnimationFrame);
  }, frames);

async function frames() {
  await page.goto(url);
  await allPainted();
  const box = await page.locator(ALL).first().boundingBox();
  const hover = await record(async () => {
    for (let i = 0; i < 120; i++) await page.mouse.move(box.x + 60 + i * 2, box.y + 60 + (i % 30));
  });
  const zoom = await record(async () => {
    await page.keyboard.down('Control');
    for (let i = 0; i < 20; i++) await page.mouse.wheel(0, i < 12 ? -60 : 60);
    await page.keyboard.up('Control');
    await page.waitForFunction(() => location.hash.includes('zoom='));
    // what is drawn after the hand rests counts as well
    await rest(60);
  });
  return { hover, zoom };
}

/** The first card, and all that are in sight: those of TensorBoard are found by the elements that it draws. */
async function cards(tab, one) {
  const firstCard = await openUntil(one, `${url}#${tab}`);
  const all = await page.evaluate(async (selector) => {
    let before = -1;
    for (let quiet = 0; quiet < 10; quiet++) {
      await new Promise((done) => setTimeout(done, 50));
      const now = document.querySelectorAll(selector).length;
      if (now !== before) quiet = 0;
      before = now;
    }
    return performance.now() - 500;
  }, one);
  return { first: firstCard, all, heap: await heap() };
}
const histograms = () => cards('histograms', '.figure[data-drawn]');
const distributions = () => cards('distributions', '.figure[data-drawn]');

/** TensorBoard draws inside shadow roots, which a selector does not enter: its histograms are SVG paths there. */
async function histogramsOfPeer() {
  const began = Date.now();
  await page.goto(`${url}#histograms`);
  await page.locator('vz-histogram-timeseries .histogram path').first().waitFor({ state: 'attached' });
  return {
    first: Date.now() - began,
    all: Date.now() - began,
    heap: await heap(),
  };
}

/** Resident bytes of the process that shows the page: decoded pictures are not on its heap. */
async function pageProcess() {
  const cdp = await browser.newBrowserCDPSession();
  const { processInfo } = await cdp.send('SystemInfo.getProcessInfo');
  const sizes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1] ?? 0) * 1000);
  return Math.max(...sizes);
}

/** ms from each move of a card's slider to its picture, decoded and in the page. */
const slide = (places) =>
  page.evaluate(async (shares) => {
    const card = document.querySelector('.slot .card');
    const slider = card.querySelector('input[type=range]');
    const shown = () => card.querySelector('.stage img').src;
    const times = [];
    for (const share of shares) {
      const before = shown();
      // a number below one is a place on the slider, others are steps to the side
      const to = Math.abs(share) < 1 ? Math.round(share * Number(slider.max)) : Number(slider.value) + share;
      const began = performance.now();
      slider.value = String(to);
      slider.dispatchEvent(new Event('input', { bubbles: true }));
      while (shown() === before) await new Promise(requestAnimationFrame);
      times.push(performance.now() - began);
      // the hand rests: what is beside the picture is loaded
      await new Promise((done) => setTimeout(done, 400));
    }
    return times.sort((a, b) => a - b);
  }, places);

async function images() {
  const one = '.card .stage img';
  const found = await cards('images', one);
  const far = await slide([0.11, 0.83, 0.37, 0.52, 0.95, 0.24, 0.68, 0.05, 0.77, 0.46, 0.59]);
  const beside = await slide([1, 1, -1, 1, 1, -1, 1]);
  const box = await page.locator(one).first().boundingBox();
  await page.mouse.move(box.x + 40, box.y + 40);
  const scroll = await record(async () => {
    for (const by of [120, -120, 120]) for (let i = 0; i < 20; i++) await page.mouse.wheel(0, by);
    await rest(30);
  });
  return {
    ...found,
    far,
    beside,
    scroll,
    heap: await heap(),
    process: await pageProcess(),
  };
}

/** TensorBoard loads a picture a step; its slider is that of its cards, its pictures are inside shadow roots. */
async function imagesOfPeer() {
  const began = Date.now();
  await page.goto(`${url}#images`);
  const picture = page.locator('tf-image-loader img').first();
  const loaded = () => picture.evaluate((image) => image.decode().then(() => image.src)).catch(() => '');
  await picture.waitFor({ state: 'attached' });
  await loaded();
  const first = Date.now() - began;
  const slider = page.locator('tf-image-loader paper-slider').first();
  await slider.focus();
  const far = [];
  for (let i = 0; i < 5; i++) {
    const before = await loaded();
    const moved = Date.now();
    await page.keyboard.press(i === 0 ? 'Home' : 'ArrowRight');
    while ((await loaded()) === before) await rest(1);
    far.push(Date.now() - moved);
  }
  far.sort((a, b) => a - b);
  return {
    first,
    all: first,
    far,
    beside: far,
    heap: await heap(),
    process: await pageProcess(),
  };
}

/** The longest time for which the page could not answer, from its beginning on. */
const noteTasks = () =>
  page.addInitScript(() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
    }).observe({ type: 'longtask', buffered: true });
  });
/** Tasks shorter than 50 ms are not told: they count as 50. */
const longestTask = async () => {
  await page.evaluate(() => new Promise((done) => setTimeout(done, 200)));
  return Math.max(50, await page.evaluate(() => window.longest));
};

/** Frames and tasks of the page while something is done with it. */
async function busy(act) {
  await page.evaluate(() => (window.longest = 0));
  const { longest, median } = await record(async () => {
    await act();
    // what is drawn after the hand rests counts as well
    await rest(30);
  });
  return { longest, median, task: await longestTask() };
}

async function graph() {
  const canvas = '#graph-canvas[data-drawn]';
  await noteTasks();
  const firstPicture = await openUntil(canvas, `${url}#graphs`);
  const opened = await longestTask();
  const box = await page.locator(canvas).boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const moved = await busy(async () => {
    await page.mouse.move(x, y);
    for (let i = 0; i < 30; i++) await page.mouse.wheel(0, i < 15 ? -80 : 80);
    await page.mouse.down();
    for (let i = 0; i < 40; i++) await page.mouse.move(x + i * 4, y + i * 3);
    await page.mouse.up();
  });
  // box by box, the innermost that there is: first the row of blocks, then one of them
  const expanded = await busy(async () => {
    for (let i = 0; i < 3; i++) {
      const closed = page.locator('[role=row][aria-expanded=false]');
      if ((await closed.count()) === 0) break;
      const before = await page.locator(canvas).getAttribute('data-drawn');
      await closed.last().locator('.caret').click();
      await page.waitForFunction(
        ([wanted, old]) => document.querySelector(wanted)?.dataset.drawn !== old,
        [canvas, before],
      );
    }
  });
  return {
    first: firstPicture,
    opened,
    moved,
    expanded,
    boxes: Number(await page.locator(canvas).getAttribute('data-drawn')),
    heap: await heap(),
  };
}

async function trace() {
  const canvas = '.tall canvas[data-painted]:not([data-painted="0"])';
  const firstPicture = await openUntil(canvas, `${url}#profile&v=1&profile.page=timeline`);
  const box = await page.locator(canvas).boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 3];
  const moved = await record(async () => {
    await page.mouse.move(x, y);
    await page.keyboard.down('Control');
    for (let i = 0; i < 40; i++) await page.mouse.wheel(0, i < 25 ? -90 : 90);
    await page.keyboard.up('Control');
    await page.mouse.down();
    for (let i = 0; i < 60; i++) await page.mouse.move(x + i * 5, y);
    await page.mouse.up();
    // what is drawn after the hand rests counts as well
    await rest(60);
  });
  return {
    first: firstPicture,
    moved,
    heap: await heap(),
    process: await pageProcess(),
    renderer: await renderer(),
  };
}

/** What draws: the name that WebGL tells, which is not there without a GPU or its imitation. */
const renderer = () =>
  page.evaluate(() => {
    const gl = document.createElement('canvas').getContext('webgl');
    const about = gl?.getExtension('WEBGL_debug_renderer_info');
    return about ? gl.getParameter(about.UNMASKED_RENDERER_WEBGL) : 'the processor (2D canvas, no GPU)';
  });

/** TensorBoard's page draws nodes as SVG groups. */
async function graphOfPeer() {
  const began = Date.now();
  await noteTasks();
  await page.goto(`${url}#graphs`);
  await page.locator('tf-graph-scene g.node').first().waitFor({ state: 'attached' });
  const firstPicture = Date.now() - began;
  return {
    first: firstPicture,
    opened: await longestTask(),
    heap: await heap(),
  };
}

async function tags() {
  const listed = await openUntil('.slot', url);
  await page.waitForSelector('.plot[data-painted]');
  const keys = await page.evaluate(async () => {
    const input = document.getElementById('tag-filter');
    const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const times = [];
    const word = 'layer499/param_1$';
    for (let n = 1; n <= word.length; n++) {
      await painted();
      const began = performance.now();
      input.value = word.slice(0, n);
      input.dispatchEvent(new Event('input', { bubbles: true }));
      await painted();
      times.push(performance.now() - began);
    }
    return times;
  });
  if ((await page.locator('.slot').count()) !== 1) throw new Error('the filter did not find the one tag');
  keys.sort((a, b) => a - b);
  return { listed, key: keys[keys.length >> 1], slowest: keys.at(-1) };
}

try {
  const found = await {
    first: peer ? firstOfPeer : first,
    frames,
    graph: peer ? graphOfPeer : graph,
    trace,
    tags,
    histograms: peer ? histogramsOfPeer : histograms,
    distributions,
    images: peer ? imagesOfPeer : images,
  }[what]();
  console.log(JSON.stringify(found));
} finally {
  await browser.close();
}
