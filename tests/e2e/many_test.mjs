// A thousand runs, ten thousand tags: everything is there, little of it is in the page; times are measured, not judged.
import assert from 'node:assert/strict';
import { CHART, loaded, measures, open, openCharts, serve, shot, soon, until } from './harness.mjs';

export default {
  async 'a thousand runs are drawn and only rows in sight exist'(keep) {
    const server = await serve('many');
    await loaded(server);
    const page = keep(await open(server));
    await page.waitForSelector('.plot[data-painted="1000"]', {
      timeout: 30000,
    });
    measures['first chart of 1000 runs, ms after navigation'] = Math.round(
      await page.evaluate(() => performance.now()),
    );
    const wire = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter((r) => r.name.endsWith('.js'))
        .reduce((n, r) => n + r.encodedBodySize, 0),
    );
    measures['script on the wire, bytes'] = wire;
    assert.ok(wire < 250000);
    await soon(async () => assert.ok((await page.locator('[data-run]').count()) < 80));
    await shot(page, 'thousand-runs');
  },

  async 'hovering over a thousand lines'(keep) {
    const page = keep(await openCharts('many'));
    await until('all drawn', async () => (await page.locator('.plot[data-painted="1000"]').count()) >= 4);
    await page.evaluate(() => new Promise((done) => requestIdleCallback(done)));
    await page.evaluate(() => {
      window.frames_ = [];
      let last = performance.now();
      const tick = (now) => {
        window.frames_.push(now - last);
        last = now;
        requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
    });
    const box = await page.locator(CHART).first().boundingBox();
    for (let i = 0; i < 60; i++) await page.mouse.move(box.x + 60 + i * 4, box.y + 60 + (i % 20));
    const frames = await page.evaluate(() => window.frames_.slice(2));
    measures['hover over 1000 lines: longest frame, ms'] = Math.round(Math.max(...frames));
    measures['hover over 1000 lines: median frame, ms'] = Math.round(frames.sort((a, b) => a - b)[frames.length >> 1]);
    await soon(async () => assert.match(await page.locator('.tip').innerText(), /and 99\d more/));
  },

  async 'ten thousand tags are listed and filtered'(keep) {
    const page = keep(await openCharts('tags'));
    await soon(async () => assert.ok((await page.locator('.slot').count()) < 40));
    const took = await page.evaluate(async () => {
      const input = document.getElementById('tag-filter');
      const started = performance.now();
      input.value = 'layer499/param_1$';
      input.dispatchEvent(new Event('input', { bubbles: true }));
      while (document.querySelectorAll('.slot').length !== 1) await new Promise((done) => setTimeout(done, 0));
      return performance.now() - started;
    });
    measures['filter of 10 000 tags, ms'] = Math.round(took);
    await shot(page, 'ten-thousand-tags');
  },

  async 'the run filter answers at once among a thousand'(keep) {
    const page = keep(await openCharts('many'));
    await page.locator('#run-filter').fill('run-00[0-4]');
    await until('fifty', async () => (await page.getByText('50 runs').count()) > 0);
  },
};
