// How the page follows the server: restarts, runs that go, tags that begin later, failures, hidden tabs, and who asks.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { RunWriter } from './logs.mjs';
import { axe, card, CHART, loaded, open, openCharts, serve, shot, soon, until } from './harness.mjs';

const footer = (page, tag) => card(page, tag).locator('footer');
const names = async (page) =>
  (await page.locator('[role=treegrid] [role=row] .name').allInnerTexts()).map((name) => name.trim()).sort();

/** A run with the same value at every step, so that a curve tells whose it is. */
function writeRun(logdir, name, tags, steps = 20) {
  const run = new RunWriter(logdir, name);
  for (let step = 0; step < steps; step++) run.scalars(step, tags);
  return run.flush();
}

/** What the page asks of one route: the tags of each request. */
async function asked(page, route = 'scalars') {
  const requests = [];
  await page.route(`**/api/v1/${route}`, (r) => {
    const ask = r.request().postDataJSON();
    requests.push(ask.series.map(({ tag }) => tag));
    return r.continue();
  });
  return {
    of: (tag) => requests.filter((tags) => tags.includes(tag)).length,
    forget: () => (requests.length = 0),
  };
}

export default {
  async 'after a restart with other runs under the same ids the page shows those and nothing of before'(keep) {
    const server = await serve('fresh', (logdir) => {
      writeRun(logdir, 'alpha', { loss: 1 });
      writeRun(logdir, 'beta', { loss: 2 });
    });
    const page = keep(await openCharts(server, '', { allowErrors: true }));
    await soon(async () => assert.deepEqual(await names(page), ['alpha', 'beta']));
    await server.stop();
    for (const name of ['alpha', 'beta']) rmSync(join(server.logdir, name), { recursive: true });
    writeRun(server.logdir, 'gamma', { loss: 5 });
    writeRun(server.logdir, 'delta', { loss: 6 });
    await server.start();
    await soon(async () => assert.deepEqual(await names(page), ['delta', 'gamma']), 30000);
    // the same ids, other values
    await soon(async () => assert.equal(await footer(page, 'loss').locator('.best').getAttribute('title'), 'gamma: 5'));
    await shot(page, 'restarted');
  },

  async 'a run that begins to log validation later appears on that card'(keep) {
    const server = await serve('fresh', (logdir) => {
      writeRun(logdir, 'a', { loss: 1, val: 1 });
      return writeRun(logdir, 'b', { loss: 2 });
    });
    const run = server.filled;
    const page = keep(await openCharts(server));
    await soon(async () => assert.match(await footer(page, 'val').innerText(), /1 run ·/));
    // known, and not new to the page when it begins
    run.scalars(20, { loss: 2 }).flush();
    await soon(async () => assert.match(await footer(page, 'loss').innerText(), /41 of 41/));
    run.scalars(21, { val: 3 }).flush();
    await soon(async () => assert.match(await footer(page, 'val').innerText(), /2 runs ·/));
  },

  async 'a deleted run leaves the list and the charts'(keep) {
    const server = await serve('fresh', (logdir) => {
      writeRun(logdir, 'a', { loss: 1 });
      writeRun(logdir, 'b', { loss: 2, only: 2 });
    });
    const page = keep(await openCharts(server));
    await soon(async () => assert.deepEqual(await names(page), ['a', 'b']));
    await card(page, 'only').waitFor();
    rmSync(join(server.logdir, 'b'), { recursive: true });
    await soon(async () => assert.deepEqual(await names(page), ['a']), 20000);
    await soon(async () => assert.match(await footer(page, 'loss').innerText(), /1 run ·/));
    await soon(async () => assert.equal(await page.locator('.slot [data-tag="only"]').count(), 0));
  },

  async 'cards whose series do not grow make no request while another tag grows'(keep) {
    const server = await serve('fresh', (logdir) => {
      const run = writeRun(logdir, 'a', {
        grows: 1,
        idle: 1,
        still: 1,
      });
      writeRun(logdir, 'b', { grows: 2, idle: 2, still: 2 });
      return run;
    });
    const run = server.filled;
    let requests;
    const page = keep(
      await openCharts(server, '', {
        before: async (p) => (requests = await asked(p)),
      }),
    );
    for (const tag of ['grows', 'idle', 'still']) await until(`${tag} is asked for`, () => requests.of(tag) > 0);
    await until('all is drawn', async () =>
      page.evaluate(() => document.querySelectorAll('.plot[data-painted="2"]').length === 3),
    );
    requests.forget();
    for (let step = 20; step < 28; step++) {
      const before = requests.of('grows');
      run.scalars(step, { grows: step }).flush();
      await until('the growing card asks', () => requests.of('grows') > before);
    }
    assert.equal(requests.of('idle'), 0);
    assert.equal(requests.of('still'), 0);
  },

  async 'a pinned tag is fetched once for both its cards'(keep) {
    const server = await serve('fresh', (logdir) => {
      writeRun(logdir, 'a', { 'g/loss': 1, 'g/other': 1 });
    });
    let requests;
    const page = keep(
      await openCharts(server, '#timeseries&pins=g/loss,g/other', {
        before: async (p) => (requests = await asked(p)),
      }),
    );
    await until('both cards are drawn', async () =>
      page.evaluate(() => document.querySelectorAll('[data-tag="g/loss"] .plot[data-painted="1"]').length === 2),
    );
    assert.equal(requests.of('g/loss'), 1);
  },

  async 'a zoom that the busy server refuses is told on the card and has its detail after Retry-After'(keep) {
    const server = await serve('fresh', (logdir) => {
      const run = new RunWriter(logdir, 'long');
      for (let step = 0; step < 20000; step++) run.scalars(step, { loss: Math.sin(step) });
      run.flush();
    });
    const page = keep(
      await openCharts(server, '#timeseries&smooth=0', {
        allowErrors: true,
      }),
    );
    let refused = 0;
    await page.route('**/api/v1/scalars', (route) =>
      refused++ === 0
        ? route.fulfill({
            status: 503,
            headers: { 'Retry-After': '4' },
            contentType: 'application/json',
            body: '{"error":{"code":"busy","message":"too much at once"}}',
          })
        : route.continue(),
    );
    const before = await footer(page, 'loss').innerText();
    const box = await card(page, 'loss').locator('.plot').boundingBox();
    await page.mouse.move(box.x + 150, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 152, box.y + 60);
    await page.mouse.move(box.x + 170, box.y + 60, { steps: 3 });
    await page.mouse.up();
    await footer(page, 'loss').getByText('not up to date').waitFor();
    await axe(page, 'a card that is not up to date', '.card');
    await shot(page, 'zoom-refused');
    await soon(async () => assert.notEqual(await footer(page, 'loss').innerText(), before), 15000);
    await soon(async () => assert.equal(await footer(page, 'loss').getByText('not up to date').count(), 0));
    assert.ok(refused >= 2);
  },

  async 'a card that failed tries again by itself, or at once when somebody says so'(keep) {
    const server = await serve('fresh', (logdir) => {
      writeRun(logdir, 'a', { loss: 1 });
    });
    let isBusy = true;
    const page = keep(
      await open(server, '', {
        allowErrors: true,
        before: (p) =>
          p.route('**/api/v1/scalars', (route) =>
            isBusy
              ? route.fulfill({
                  status: 503,
                  headers: { 'Retry-After': '200' },
                  contentType: 'application/json',
                  body: '{"error":{"code":"busy","message":"too much at once"}}',
                })
              : route.continue(),
          ),
      }),
    );
    await page.waitForSelector('text=too much at once');
    await page.waitForSelector('text=/next try in \\d+ s/');
    await axe(page, 'a card that failed', '.card');
    isBusy = false;
    await page.getByRole('button', { name: 'Try now' }).click();
    await page.waitForSelector('.plot[data-painted="1"]');
  },

  async 'a hidden tab makes no request, and catches up when it is shown'(keep) {
    const server = await serve('fresh', (logdir) => writeRun(logdir, 'a', { loss: 1 }));
    const run = server.filled;
    const requests = [];
    const page = keep(
      await openCharts(server, '', {
        before: (p) =>
          p.route('**/api/v1/**', (route) => {
            requests.push(route.request().url());
            return route.continue();
          }),
      }),
    );
    const setHidden = (hidden) =>
      page.evaluate((to) => {
        Object.defineProperty(document, 'hidden', {
          value: to,
          configurable: true,
        });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    const points = () => footer(page, 'loss').innerText();
    await soon(async () => assert.match(await points(), /20 of 20/));
    await setHidden(true);
    // what was under way when it was hidden may still end
    const other = keep(await openCharts(server));
    requests.length = 0;
    for (let step = 20; step < 30; step++) run.scalars(step, { loss: 1 }).flush();
    // another tab, in sight, has the news: this one had as much time
    await soon(async () => assert.match(await footer(other, 'loss').innerText(), /30 of 30/));
    assert.deepEqual(requests, []);
    await setHidden(false);
    await soon(async () => assert.match(await points(), /30 of 30/));
  },

  async 'a part of the page that cannot be loaded is told, and comes when it can'(keep) {
    const page = keep(await openCharts('demo', '', { allowErrors: true }));
    let isBroken = true;
    await page.route('**/assets/Dialogs-*.js', (route) => (isBroken ? route.abort() : route.continue()));
    await page.keyboard.press('?');
    await page.waitForSelector('text=could not be loaded');
    isBroken = false;
    await page.waitForSelector('dialog[open]', { timeout: 20000 });
  },

  async 'the table of a card that cannot be loaded is told, and comes when it can'(keep) {
    const page = keep(await openCharts('demo', '', { allowErrors: true }));
    let isBroken = true;
    await page.route('**/assets/Below-*.js', (route) => (isBroken ? route.abort() : route.continue()));
    await page.keyboard.press('x');
    await page.waitForSelector('text=could not be loaded');
    isBroken = false;
    await page.waitForSelector('.below [role=table], .below table', {
      timeout: 20000,
    });
  },

  async 'a page from before an upgrade of the server offers to load anew'(keep) {
    const server = await serve('demo');
    const html = await (await fetch(server.url)).text();
    const page = keep(await openCharts(server, '', { allowErrors: true }));
    // what the page asks for is newer; what the reload opens is the real one
    await page.route(/\/$/, (route) =>
      route.request().isNavigationRequest()
        ? route.continue()
        : route.fulfill({
            contentType: 'text/html',
            body: html.replace(/first-[\w-]+\.js/g, 'first-newer.js'),
          }),
    );
    await page.route('**/assets/Dialogs-*.js', (route) => route.fulfill({ status: 404, body: '' }));
    await page.keyboard.press('?');
    await page.waitForSelector('text=newer version of this page');
    await shot(page, 'outdated');
    // what the page that goes would say of itself meanwhile is of no use: the next one is waited for first
    await Promise.all([
      page.waitForEvent('load'),
      page.getByRole('button', { name: 'Reload the page' }).click({ noWaitAfter: true }),
    ]);
    await page.waitForSelector(CHART);
    await soon(async () => assert.equal(await page.locator('.outdated').count(), 0));
  },
};
