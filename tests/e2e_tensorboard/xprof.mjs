// Opens XProf's own page in Chromium, chooses its trace viewer, and says what that shows.
//
//   node xprof.mjs BASE-URL EVENT
//   prints {"tools": [...], "rows": [...], "details": "...", "hits": "0 of N", "found": "...", "asked": [...], "problems": [...]}
//
// `rows` are the names at the left of the timeline, `details` what is told of the longest slice of the thread "python3" after
// it is clicked, `hits` and `found` how many a search for EVENT finds and what is told of the first, `asked` the requests for
// data. Problems are answers of 400 and above to what the page may ask for; what it fetches from other hosts can't be had here.
// Environment: SEABOARD_BROWSER.
import { createRequire } from 'node:module';
import { BROWSER } from '../e2e/places.mjs';

const require = createRequire(new URL('../../ui/package.json', import.meta.url));
const { chromium } = require('playwright-core');

const PATIENCE = 30000;
const [base, event] = process.argv.slice(2);
const [asked, problems] = [[], []];
const browser = await chromium.launch({
  executablePath: BROWSER,
  args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
page.setDefaultTimeout(PATIENCE);
await page.route(
  (url) => url.origin !== new URL(base).origin,
  (route) => route.abort(),
);
// an operator that is selected makes the page ask for the compiled program around it, whether that tool is offered or not
const isOffered = (url) => url.searchParams.get('tag') !== 'graph_viewer';
page.on('response', (reply) => {
  const url = new URL(reply.url());
  if (url.pathname.endsWith('/data')) asked.push(Object.fromEntries(url.searchParams));
  if (reply.status() >= 400 && isOffered(url)) problems.push(`${reply.status()} ${url.pathname}${url.search}`);
});

/** Waits until text() holds a part, and gives it. */
async function telling(text, part) {
  const end = Date.now() + PATIENCE;
  let said = '';
  while (!(said = await text()).includes(part) && Date.now() < end) await new Promise((go) => setTimeout(go, 100));
  return said;
}

await page.goto(`${base}/data/plugin/profile/index.html`);
// the page chooses the only session and its overview by itself: sessions and tools are lists to choose from
await page.locator('mat-select').nth(1).click();
await page.locator('mat-option').first().waitFor();
const tools = await page.locator('mat-option').allInnerTexts();
await page.locator('mat-option', { hasText: 'Trace Viewer' }).click();

const frame = await (await page.waitForSelector('iframe[src*="trace_viewer_index"]')).contentFrame();
const body = () => frame.locator('body').innerText();
const text = await telling(body, 'python3');
const rows = text.split('\n').map((line) => line.replace('▾ ', ''));

// key 1: a click selects
const row = await frame.getByText('python3', { exact: true }).first().boundingBox();
await page.mouse.move(row.x + 700, row.y + row.height / 2);
await page.keyboard.press('1');
await page.mouse.click(row.x + 700, row.y + row.height / 2);
const details = await telling(body, 'Wall Duration');

await frame.locator('#search_input, input[placeholder="Find Events..."]').first().fill(event);
await page.keyboard.press('Enter');
const hits = (await telling(body, ' of 10')).match(/\d+ of \d+/)?.[0];
await frame.getByText('→', { exact: true }).first().click();
const found = await telling(body, 'kernel_details');
console.log(JSON.stringify({ tools, rows, details, hits, found, asked, problems }));
await browser.close();
