// Opens dashboards of TensorBoard's own page in Chromium and says what they show.
//
//   node frontend.mjs BASE-URL DASHBOARD...
//   prints {"dashboard": {"facts": {...}, "problems": [...], "milliseconds": n}, ...}
//
// Facts are what is on the screen: texts, sizes of decoded pictures, and of charts the pixels that are coloured (grids,
// axes and texts are grey). Problems are errors on the console, requests that failed, and answers of 400 and above.
// Nothing is judged here; test_frontend.py knows what is right. Environment: SEABOARD_BROWSER, SCREENSHOTS (a folder).
import { createRequire } from 'node:module';
import { BROWSER } from '../e2e/places.mjs';

const require = createRequire(new URL('../../ui/package.json', import.meta.url));
const { chromium } = require('playwright-core');

const PATIENCE = 30000;
const [base, ...names] = process.argv.slice(2);

const browser = await chromium.launch({
  executablePath: BROWSER,
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
const easel = await browser.newPage();

/** Waits until what() holds; a dashboard that never gets there is described as it is. */
async function until(what) {
  const end = Date.now() + PATIENCE;
  while (!(await what()) && Date.now() < end) await new Promise((go) => setTimeout(go, 100));
}

/** What read() gives when it has given the same for half a second: all that was on its way is there. */
async function steady(read) {
  let [last, same] = ['', 0];
  await until(async () => {
    const now = JSON.stringify(await read());
    same = now === last ? same + 1 : 0;
    last = now;
    return same >= 5;
  });
  return JSON.parse(last);
}

async function atLeast(locator, count) {
  await until(async () => (await locator.count()) >= count);
}

/** Coloured pixels of what is seen of an element, and how many hues have at least 20 of them. */
async function colours(locator) {
  const shot = (await locator.screenshot()).toString('base64');
  return easel.evaluate(async (data) => {
    const picture = await createImageBitmap(await (await fetch('data:image/png;base64,' + data)).blob());
    const context = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
    context.drawImage(picture, 0, 0);
    const bytes = context.getImageData(0, 0, picture.width, picture.height).data;
    const hues = new Array(12).fill(0);
    for (let i = 0; i < bytes.length; i += 4) {
      const [r, g, b] = [bytes[i], bytes[i + 1], bytes[i + 2]];
      const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)];
      if (most - least < 60) continue;
      const range = most - least;
      const sixth = most === r ? (g - b) / range : most === g ? 2 + (b - r) / range : 4 + (r - g) / range;
      hues[Math.floor(((sixth + 6) % 6) * 2)]++;
    }
    return {
      pixels: hues.reduce((a, b) => a + b),
      hues: hues.filter((count) => count >= 20).length,
    };
  }, shot);
}

/** Colours, when there are some; drawing comes a little after the element. */
async function drawn(locator, pixels = 100) {
  let found = { pixels: 0, hues: 0 };
  await until(async () => {
    if (!(await locator.count())) return false;
    await locator.first().scrollIntoViewIfNeeded();
    found = await colours(locator.first());
    return found.pixels >= pixels;
  });
  return found;
}

async function textsNow(locator) {
  const found = await locator.evaluateAll((all) => all.map((one) => one.innerText ?? one.textContent));
  return found.map((text) => text.replace(/\s+/g, ' ').trim());
}

const texts = (locator) => steady(() => textsNow(locator));
const titles = (locator) => steady(() => locator.evaluateAll((all) => all.map((one) => one.title)));

async function pictures(locator) {
  const sizes = () => locator.evaluateAll((all) => all.map((one) => [one.naturalWidth, one.naturalHeight]));
  await until(async () => (await sizes()).every(([width]) => width > 0));
  return steady(sizes);
}

const isOpen = (all) => all.some((one) => one.opened);

async function openAll(page) {
  for (const closed of await page.locator('tf-category-paginated-view button.heading:not([open-button])').all())
    if (!(await closed.locator('..').locator('iron-collapse').evaluateAll(isOpen))) await closed.click();
}

const dashboards = {
  async timeseries(page) {
    const cards = page.locator('card-view');
    await atLeast(page.locator('image-card img'), 1);
    const images = await pictures(page.locator('image-card img'));
    const facts = {
      images,
      runs: await texts(page.locator('tb-data-table-content-row')),
    };
    // with a filter all cards are in one group, and open
    await page.locator('metrics-tag-filter input').fill('.');
    const kinds = page.locator('metrics-main-view mat-button-toggle-group button');
    const only = async (kind) => kinds.filter({ hasText: kind }).click();
    await only('Scalars');
    await atLeast(page.locator('scalar-card line-chart'), 1);
    facts.scalarCards = await titles(cards.locator('tb-truncated-path'));
    facts.lines = [];
    for (const chart of await page.locator('scalar-card line-chart').all()) facts.lines.push(await drawn(chart));
    await only('Scalars');
    await only('Histogram');
    await atLeast(page.locator('histogram-card tb-histogram path'), 1);
    facts.histogramCards = await titles(cards.locator('tb-truncated-path'));
    facts.histograms = await drawn(page.locator('histogram-card tb-histogram').last());
    return facts;
  },
  async scalars(page) {
    await atLeast(page.locator('vz-line-chart2'), 1);
    await openAll(page);
    const facts = {
      headings: await texts(page.locator('tf-card-heading figcaption')),
      runs: await texts(page.locator('tf-runs-selector .item-label-container')),
    };
    facts.lines = [];
    for (const chart of await page.locator('vz-line-chart2').all()) facts.lines.push(await drawn(chart));
    return facts;
  },
  async images(page) {
    await atLeast(page.locator('tf-image-loader img'), 1);
    await openAll(page);
    return {
      headings: await texts(page.locator('tf-image-loader tf-card-heading')),
      sizes: await pictures(page.locator('tf-image-loader img')),
    };
  },
  async audio(page) {
    await atLeast(page.locator('tf-audio-loader audio'), 1);
    await openAll(page);
    const clips = page.locator('tf-audio-loader audio');
    const seconds = () => clips.evaluateAll((all) => all.map((one) => one.duration));
    await steady(() => clips.count());
    await clips.evaluateAll((all) => all.forEach((one) => one.load()));
    await until(async () => (await seconds()).every((length) => length > 0));
    return {
      headings: await texts(page.locator('tf-audio-loader tf-card-heading')),
      seconds: await seconds(),
    };
  },
  async text(page) {
    await atLeast(page.locator('tf-text-loader tf-markdown-view'), 1);
    await openAll(page);
    const cards = page.locator('tf-text-loader');
    for (const card of await cards.all()) await atLeast(card.locator('tf-markdown-view p'), 1);
    return steady(async () => ({
      headings: await textsNow(cards.locator('tf-card-heading figcaption')),
      titles: [...new Set(await textsNow(cards.locator('h1')))],
      items: [...new Set(await textsNow(cards.locator('li')))],
      tables: await cards.locator('table').count(),
      hostile: await cards.locator('script, iframe, [onerror], [onclick], a[href^="javascript"]').count(),
    }));
  },
  async histograms(page) {
    await atLeast(page.locator('vz-histogram-timeseries'), 1);
    const charts = page.locator('vz-histogram-timeseries');
    const facts = {
      headings: await texts(page.locator('tf-histogram-loader tf-card-heading figcaption')),
    };
    await atLeast(charts.locator('g.histogram'), 1);
    facts.slices = await steady(async () =>
      Promise.all((await charts.all()).map((chart) => chart.locator('g.histogram').count())),
    );
    facts.drawn = await drawn(charts.last());
    return facts;
  },
  async distributions(page) {
    await atLeast(page.locator('vz-distribution-chart'), 1);
    const facts = {
      headings: await texts(page.locator('tf-distribution-loader tf-card-heading figcaption')),
    };
    facts.drawn = await drawn(page.locator('vz-distribution-chart').last());
    return facts;
  },
  async graphs(page) {
    const nodes = page.locator('tf-graph-scene g.node');
    await atLeast(nodes, 1);
    await until(async () => (await textsNow(page.locator('tf-graph-scene text.nodelabel'))).some((text) => text));
    return {
      nodes: (await steady(() => nodes.evaluateAll((all) => all.map((one) => one.getAttribute('data-name'))))).sort(),
      picked: await page
        .locator('tf-graph-controls paper-dropdown-menu')
        .evaluateAll((all) => all.map((one) => one.value)),
    };
  },
  async pr_curves(page) {
    await atLeast(page.locator('tf-pr-curve-card vz-line-chart2'), 1);
    const facts = {
      drawn: await drawn(page.locator('tf-pr-curve-card vz-line-chart2')),
    };
    facts.headings = await texts(page.locator('tf-pr-curve-card tf-card-heading figcaption'));
    return facts;
  },
  async custom_scalars(page) {
    await atLeast(page.locator('vz-line-chart2'), 2);
    const facts = {
      categories: await texts(page.locator('tf-category-paginated-view button.heading')),
    };
    facts.headings = await texts(page.locator('tf-card-heading figcaption'));
    facts.multiLine = await drawn(page.locator('tf-custom-scalar-multi-line-chart-card vz-line-chart2'));
    facts.margin = await drawn(page.locator('tf-custom-scalar-margin-chart-card vz-line-chart2'));
    return facts;
  },
  async hparams(page) {
    const cells = page.locator('tf-hparams-table-view vaadin-grid-cell-content');
    await until(async () => (await textsNow(cells)).some((text) => text.includes('adam') || text.includes('sgd')));
    const facts = { cells: (await texts(cells)).filter((text) => text) };
    const pane = page.locator('tf-hparams-query-pane');
    facts.names = await texts(pane.locator('.hparam paper-checkbox, .metric paper-checkbox'));
    await page.locator('tf-hparams-main paper-tab', { hasText: 'PARALLEL' }).click();
    const axes = page.locator('tf-hparams-parallel-coords-plot .axis-title');
    await atLeast(axes, 1);
    facts.axes = await texts(axes);
    return facts;
  },
  async mesh(page) {
    await atLeast(page.locator('tf-mesh-loader canvas'), 1);
    return {
      drawn: await drawn(page.locator('tf-mesh-loader canvas'), 1000),
      headings: await texts(page.locator('tf-mesh-loader tf-card-heading figcaption')),
    };
  },
  async projector(page) {
    await atLeast(page.locator('iframe'), 1);
    // the plugin's page, which holds the projector's own
    const inner = page.frameLocator('iframe').frameLocator('iframe');
    const points = () =>
      inner
        .locator('vz-projector .numDataPoints')
        .allInnerTexts()
        .catch(() => []);
    await until(async () => (await points()).some((text) => Number(text.replace(/\D/g, '')) > 0));
    return {
      points: await points(),
      dimension: await inner.locator('vz-projector .dim').allInnerTexts(),
      drawn: await drawn(inner.locator('vz-projector canvas'), 500),
    };
  },
};

const verdicts = {};
for (const name of names) {
  const page = await browser.newPage({
    viewport: { width: 1400, height: 1000 },
  });
  const problems = [];
  page.on('console', (line) => {
    if (line.type() === 'error') problems.push(`console: ${line.text()} ${line.location().url}`);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  // a page that is left takes its questions back
  page.on('requestfailed', (ask) => {
    const why = ask.failure().errorText;
    if (why !== 'net::ERR_ABORTED') problems.push(`${why}: ${ask.url()}`);
  });
  page.on('response', (reply) => {
    if (reply.status() >= 400) problems.push(`${reply.status()}: ${reply.url()}`);
  });
  let facts = {};
  const begin = Date.now();
  try {
    await page.goto(`${base}/#${name}`);
    facts = await dashboards[name](page);
    facts.tabs = await texts(page.locator('plugin-selector [role=tab]:visible'));
  } catch (error) {
    problems.push(`driver: ${error.message}`);
  }
  if (process.env.SCREENSHOTS)
    await page.screenshot({
      path: `${process.env.SCREENSHOTS}/${name}.png`,
    });
  verdicts[name] = { facts, problems, milliseconds: Date.now() - begin };
  await page.close();
}
await browser.close();
console.log(JSON.stringify(verdicts, null, 1));
