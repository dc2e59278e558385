// The shell: themes, languages, keys, palette, tabs, links, states.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunWriter } from './logs.mjs';
import { axe, CHART, loaded, open, openCharts, serve, shot, until } from './harness.mjs';

export default {
  async 'axe finds nothing, in both themes and languages, with dialogs open'(keep) {
    for (const colorScheme of ['light', 'dark'])
      for (const locale of ['en-GB', 'zh-CN']) {
        const page = keep(await openCharts('demo', '#timeseries&pins=val/loss', { colorScheme, locale }));
        await page.waitForTimeout(400);
        const name = `${colorScheme}-${locale.slice(0, 2)}`;
        await axe(page, name);
        await shot(page, `page-${name}`);
        for (const [key, dialog] of [['?', 'keys'], ['Control+k', 'palette']]) {
          await page.keyboard.press(key);
          await page.waitForSelector('dialog[open]');
          await axe(page, `${name} ${dialog}`);
          await shot(page, `${dialog}-${name}`);
          await page.keyboard.press('Escape');
        }
        await page.context().close();
      }
  },

  async 'axe finds nothing in full size, menus, settings and the empty page'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&full=train/loss&group=path'));
    await page.waitForSelector('dialog[open] .row .name');
    await axe(page, 'full');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Settings' }).click();
    await axe(page, 'settings');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^View/ }).click();
    await axe(page, 'menu');
    const empty = keep(await open(await serve('empty')));
    await empty.waitForSelector('pre');
    await axe(empty, 'empty');
    await shot(empty, 'empty');
  },

  async 'theme and language switch and stay'(keep) {
    const page = keep(await openCharts('demo'));
    await page.keyboard.press('t');
    await until('dark', () => page.evaluate(() => document.documentElement.dataset.theme === 'dark'));
    await page.getByRole('button', { name: '切换到中文' }).click();
    await page.waitForSelector('text=时间序列');
    await page.reload();
    await page.waitForSelector('text=时间序列');
    assert.deepEqual(await page.evaluate(() => [document.documentElement.dataset.theme, document.documentElement.lang]), ['dark', 'zh-Hans']);
  },

  async 'the palette finds a tag and shows it alone'(keep) {
    const page = keep(await openCharts('demo'));
    await page.keyboard.press('Control+k');
    await page.keyboard.type('latency');
    await page.keyboard.press('Enter');
    await until('one card', async () => (await page.locator('.slot').count()) === 1);
    assert.equal(await page.locator('.slot section').getAttribute('data-tag'), 'val/latency_ms');
  },

  async 'the tag filter takes expressions, keeps the last good one, and says when nothing matches'(keep) {
    const page = keep(await openCharts('demo'));
    await page.keyboard.press('/');
    await page.keyboard.type('val/(loss|acc');
    assert.equal(await page.locator('#tag-filter').getAttribute('aria-invalid'), 'true');
    await page.keyboard.type(')');
    await until('two cards', async () => (await page.locator('.slot').count()) === 2);
    await page.locator('#tag-filter').fill('nothing like it');
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await page.waitForSelector(CHART);
  },

  async "TensorBoard's links open the same view"(keep) {
    const page = keep(await openCharts('demo', '#scalars', { query: '?smoothing=0.9&tagFilter=loss&runFilter=vit&darkMode=true' }));
    await until('mapped', () => page.evaluate(() => location.hash === '#timeseries&runs=vit&tags=loss&smooth=0.9' && location.search === '?darkMode=true'));
    await until('three runs', async () => (await page.locator('[data-run]').count()) === 3);
  },

  async 'tabs without data are under More, with the reason'(keep) {
    const page = keep(await openCharts('demo'));
    await page.getByRole('button', { name: /^More ▾/ }).click();
    const text = await page.locator('[role=menu]').innerText();
    assert.match(text, /Images\s+no data/);
    assert.match(text, /HParams\s+1 logged/);
    await shot(page, 'more');
  },

  async 'an empty folder says what to do, and shows what comes'(keep) {
    const server = await serve('fresh');
    try {
      const page = keep(await open(server));
      await page.waitForSelector('pre');
      const run = new RunWriter(server.logdir, 'first').flush();
      for (let step = 0; step < 20; step++) run.scalars(step, { 'train/loss': 1 / (step + 1) });
      run.flush();
      await page.waitForSelector(CHART, { timeout: 15000 });
    } finally {
      await server.stop();
    }
  },

  async 'damage is told, down to the file'(keep) {
    const server = await serve('fresh');
    try {
      const run = new RunWriter(server.logdir, 'hurt');
      for (let step = 0; step < 200; step++) run.scalars(step, { loss: step });
      run.flush();
      const file = join(server.logdir, 'hurt', readdirSync(join(server.logdir, 'hurt'))[0]);
      const bytes = readFileSync(file);
      bytes[3000] ^= 255;
      writeFileSync(file, bytes);
      await until('read', async () => (await loaded(server)).loading.points > 0);
      const page = keep(await openCharts(server));
      await page.getByRole('button', { name: /damaged/ }).click();
      await page.waitForSelector('dialog[open] li code');
      assert.match(await page.locator('dialog[open]').innerText(), /tfevents/);
      await shot(page, 'damage');
    } finally {
      await server.stop();
    }
  },

  async 'a server that goes and comes back is noticed'(keep) {
    const server = await serve('fresh');
    const run = new RunWriter(server.logdir, 'r');
    for (let step = 0; step < 20; step++) run.scalars(step, { loss: step });
    run.flush();
    await until('read', async () => (await loaded(server)).loading.points > 0);
    const page = keep(await openCharts(server, '', { allowErrors: true }));
    await server.stop();
    await page.waitForSelector('.lost', { timeout: 20000 });
    await shot(page, 'disconnected');
    await server.start();
    try {
      await until('back', async () => (await page.locator('.lost').count()) === 0, 20000);
    } finally {
      await server.stop();
    }
  },

  async 'a phone shows one card a row and the runs as a sheet'(keep) {
    const page = keep(await openCharts('demo', '', { viewport: { width: 390, height: 800 }, hasTouch: true }));
    await page.waitForTimeout(300);
    await shot(page, 'phone-runs');
    await page.getByRole('button', { name: 'Show or hide the runs' }).click();
    await page.waitForTimeout(300);
    await shot(page, 'phone');
    const boxes = await page.locator('.slot').evaluateAll((all) => all.map((e) => e.getBoundingClientRect().left));
    assert.equal(new Set(boxes).size, 1);
  },
};
