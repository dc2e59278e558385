// Ten thousand runs in the panel: all are there, few are in the page; times are measured, not judged.
import assert from 'node:assert/strict';
import { card, loaded, measures, open, serve, shot, soon, until } from './harness.mjs';
import { names } from './runs.mjs';

async function openForest(keep, hash) {
  const server = await serve('forest');
  await loaded(server);
  const page = keep(await open(server, hash));
  await page.waitForSelector('[data-run],[data-group]', { timeout: 30000 });
  return page;
}
/** Does something in the page and waits until it shows, within one call: what the viewer waits for. */
const took = (page, act, isSo) =>
  page.evaluate(
    async ([act, isSo]) => {
      const [doIt, done] = [new Function(act), new Function(`return ${isSo}`)];
      const started = performance.now();
      doIt();
      while (!done()) await new Promise((next) => setTimeout(next, 0));
      await new Promise((next) => requestAnimationFrame(next));
      return Math.round(performance.now() - started);
    },
    [act, isSo],
  );
const type = (text) =>
  `const f = document.getElementById('run-filter'); f.value = ${JSON.stringify(text)}; f.dispatchEvent(new Event('input', { bubbles: true }));`;

export default {
  async 'ten thousand runs as a tree: folded, unfolded, filtered, sorted'(keep) {
    const page = await openForest(keep, '#timeseries&group=tree&only=,');
    measures['10 000 runs: rows after navigation, ms'] = await page.evaluate(() => Math.round(performance.now()));
    await until('all counted', async () => (await page.getByText('10\u2009000 runs').count()) > 0);
    await soon(async () => assert.ok((await page.locator('[role=row]').count()) < 80));
    measures['10 000 runs: unfold or fold a folder of 5000, ms'] = await took(
      page,
      `document.querySelector('[data-group="nlp/"] .fold').click()`,
      `document.querySelector('[data-group="vision/"]')`,
    );
    await page.locator('[data-group="nlp/"] .fold').click();
    measures['10 000 runs: a letter in the filter, ms'] = await took(
      page,
      type('run-0999'),
      `document.querySelectorAll('[data-run]').length === 10`,
    );
    await soon(async () =>
      assert.deepEqual(new Set((await names(page)).map((name) => name.slice(-9, -1))), new Set(['run-0999'])),
    );
    await page.locator('#run-filter').fill('');
    await until('cells', async () => (await page.locator('[data-run] .number').first().innerText()) !== '');
    measures['10 000 runs: sort by a metric, ms'] = await took(
      page,
      `document.querySelector('[data-column] .sort').click()`,
      `document.querySelector('[aria-sort=ascending]')`,
    );
    await page.locator('[role=treegrid]').focus();
    await page.keyboard.press('End');
    await until('the end', async () => (await page.locator('.row.active').count()) === 1);
    await soon(async () => assert.ok((await page.locator('[role=row]').count()) < 80));
    await shot(page, 'ten-thousand-runs');
  },

  async 'ten thousand runs scroll, and a folder of five thousand is hidden by one word'(keep) {
    const page = await openForest(keep, '#timeseries&group=tree&only=,');
    const frames = await page.evaluate(async () => {
      const box = document.querySelector('[role=treegrid]');
      const frames = [];
      let last = performance.now();
      for (let i = 0; i < 60; i++) {
        box.scrollTop += 280;
        await new Promise((next) => requestAnimationFrame(next));
        frames.push(performance.now() - last);
        last = performance.now();
      }
      return frames;
    });
    measures['10 000 runs: longest frame while scrolling ten rows a frame, ms'] = Math.round(Math.max(...frames));
    await page.locator('[role=treegrid]').evaluate((box) => (box.scrollTop = 0));
    await page
      .getByRole('button', {
        name: 'Show or hide all of nlp',
        exact: true,
      })
      .click();
    await until(
      '5000',
      async () => (await page.getByText('5000 shown').count()) + (await page.getByText('5\u2009000 shown').count()) > 0,
    );
    await until('short', () => page.evaluate(() => /only=nlp\/(&|$)/.test(location.hash)));
  },

  async 'the best ten of ten thousand, and what a hyperparameter does to them'(keep) {
    const page = await openForest(keep, '#timeseries&sort=m:min:val/loss&top=10&cols=m:min:val/loss,h:lr,h:opt');
    await until('ten', async () => (await names(page)).length === 10);
    await until(
      'drawn',
      async () => (await card(page, 'val/loss').locator('footer').innerText()).startsWith('10 runs'),
      20000,
    );
    measures['10 000 runs: the best ten after navigation, ms'] = await page.evaluate(() =>
      Math.round(performance.now()),
    );
    await soon(async () => {
      const rates = await page.locator('[data-run] .number:nth-of-type(4)').allInnerTexts();
      assert.deepEqual([...new Set(rates.map((v) => v.trim()).filter((v) => v !== ''))], ['0.1']);
    });
  },

  async 'all of ten thousand runs are shown at first'(keep) {
    const page = await openForest(keep, '');
    await until('all', async () => (await page.getByText('10\u2009000 shown').count()) > 0);
    await page.waitForSelector('.plot[data-painted="10000"]', {
      timeout: 40000,
    });
    measures['10 000 runs: first chart of all after navigation, ms'] = await page.evaluate(() =>
      Math.round(performance.now()),
    );
  },
};
