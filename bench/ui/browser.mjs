// Measures a page in Chromium and prints one JSON line: node browser.mjs WHAT URL [PEER]. Nothing is judged here.
//
//   first   bytes of script for the first page; ms from navigation to the first chart with all lines; heap then
//   frames  longest and median ms between frames while the pointer moves over, and zooms into, a thousand lines
//   histograms     ms from navigation to the histograms tab to the first card drawn, and to all in sight; heap then
//   distributions  the same of distributions
//   tags    ms until ten thousand tags are listed, and from a keystroke to the filtered page
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const require = createRequire(join(resolve(import.meta.dirname, '../..'), 'ui/package.json'));
const { chromium } = require('playwright-core');
const [what, url, peer] = process.argv.slice(2);
const ALL = '.plot[data-painted="1000"]';
const PATIENCE = 60000;

const browser = await chromium.launch({
  executablePath: process.env.SEABOARD_BROWSER ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update'],
});
const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB' })).newPage();
page.setDefaultTimeout(PATIENCE);
// a browser that was just started is busy with itself for a moment; people have theirs open
await new Promise((done) => setTimeout(done, 2000));

/** Notes, inside the page, the moment when the selector first finds something. */
const noteWhen = (selector) =>
  page.addInitScript((wanted) => {
    const look = () => {
      if (window.seenAt === undefined && document.querySelector(wanted)) window.seenAt = performance.now();
    };
    new MutationObserver(look).observe(document, { subtree: true, childList: true, attributes: true });
  }, selector);
const seenAt = async () => {
  await page.waitForFunction(() => window.seenAt !== undefined);
  return page.evaluate(() => window.seenAt);
};

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

/** Scripts as they came over the wire, and for a page that holds its script inside, the page. */
const scriptBytes = () =>
  page.evaluate(() => {
    const of = (kind) => performance.getEntriesByType(kind);
    const scripts = of('resource').filter((r) => /\.js(\?|$)/.test(r.name) || r.initiatorType === 'script');
    return scripts.reduce((n, r) => n + r.encodedBodySize, 0) + of('navigation')[0].encodedBodySize;
  });

async function first() {
  await noteWhen(ALL);
  await page.goto(url);
  await allPainted();
  return { chart: await seenAt(), bytes: await scriptBytes(), heap: await heap() };
}

// TensorBoard starts with no run selected when there are more than 500: the box that selects all is clicked as soon as
// it is there, as its user has to.
async function firstOfPeer() {
  await noteWhen('scalar-card line-chart canvas, scalar-card line-chart svg path');
  await page.goto(`${url}#timeseries`);
  await page.locator('runs-data-table input[type=checkbox]').first().click({ force: true });
  return { chart: await seenAt(), bytes: await scriptBytes(), heap: await heap() };
}

async function frames() {
  await page.goto(url);
  await allPainted();
  const record = async (act) => {
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
  };
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
    await page.evaluate(async () => {
      for (let i = 0; i < 60; i++) await new Promise(requestAnimationFrame);
    });
  });
  return { hover, zoom };
}

/** The first card, and all that are in sight: those of TensorBoard are found by the elements that it draws. */
async function cards(tab, one) {
  await noteWhen(one);
  await page.goto(`${url}#${tab}`);
  const firstCard = await seenAt();
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
  return { first: Date.now() - began, all: Date.now() - began, heap: await heap() };
}

async function tags() {
  await noteWhen('.slot');
  await page.goto(url);
  const listed = await seenAt();
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
    tags,
    histograms: peer ? histogramsOfPeer : histograms,
    distributions,
  }[what]();
  console.log(JSON.stringify(found));
} finally {
  await browser.close();
}
