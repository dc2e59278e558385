// The runs panel: filter, select, group, sort, notes; and what is live.
import assert from 'node:assert/strict';
import { RunWriter } from './logs.mjs';
import { card, kept, openCharts, serve, shot, soon, until } from './harness.mjs';
import { names, waitHash } from './runs.mjs';

const footer = (page, tag) => card(page, tag).locator('footer').innerText();

export default {
  async 'the filter takes expressions and conditions on hyperparameters and state'(keep) {
    const page = keep(await openCharts('demo'));
    const filter = page.locator('#run-filter');
    await filter.fill('vit|resnet');
    await until('six', async () => (await names(page)).length === 6);
    await filter.fill('lr>0.0005 and seed[12]');
    await until('two', async () => (await names(page)).sort().join() === 'resnet-50/seed1,resnet-50/seed2');
    await filter.fill('state:running');
    await until('three', async () => (await names(page)).length === 3);
    await until('cards follow', async () => (await footer(page, 'train/loss')).startsWith('3 runs'));
    await filter.fill('zzz');
    await page.getByRole('main').getByRole('button', { name: 'Show all runs' }).click();
    await until('all', async () => (await names(page)).length === 9);
  },

  async 'a click on the swatch hides, an Alt-click shows alone, a link keeps it'(keep) {
    const page = keep(await openCharts('demo'));
    const swatch = page.getByRole('button', {
      name: 'Show or hide vit-b16/seed1',
    });
    await swatch.click();
    await until('eight', async () => (await footer(page, 'train/loss')).startsWith('8 runs'));
    await swatch.click({ modifiers: ['Alt'] });
    await until('one', async () => (await footer(page, 'train/loss')).startsWith('1 run '));
    const hash = await waitHash(page, 'only=');
    const other = keep(await openCharts('demo', hash));
    await until('the same', async () => (await footer(other, 'train/loss')).startsWith('1 run '));
  },

  async 'groups fold and give their colour'(keep) {
    const page = keep(await openCharts('demo'));
    await page.getByRole('button', { name: /^Group/ }).click();
    await page.getByRole('menuitemcheckbox', { name: 'By folder' }).click();
    await until('three groups', async () => (await page.locator('.row.group').count()) === 3);
    await page.getByRole('button', { name: /^Colour/ }).click();
    await page.getByRole('menuitemcheckbox', { name: 'By group' }).click();
    const colours = () =>
      page
        .locator('[data-run] .swatch')
        .evaluateAll((all) => all.map((e) => getComputedStyle(e).getPropertyValue('--c')));
    await soon(async () => assert.equal(new Set(await colours()).size, 3));
    await shot(page, 'groups');
    await page.locator('.fold').first().click();
    await until('six rows', async () => (await names(page)).length === 6);
  },

  async 'sorting by a metric puts the best on top'(keep) {
    const page = keep(await openCharts('demo'));
    await page.locator('.head .sort', { hasText: 'val/loss' }).click();
    await until('sorted', () => page.evaluate(() => location.hash.includes('sort=')));
    await soon(async () => {
      const values = await page.locator('[data-run] .number:nth-of-type(3)').allInnerTexts();
      const numbers = values.map(Number);
      assert.ok(numbers.length === 9 && numbers.every((v, i) => i === 0 || v >= numbers[i - 1]), values.join());
    });
  },

  async 'colours are the same after a reload'(keep) {
    const page = keep(await openCharts('demo'));
    const read = () =>
      page
        .locator('[data-run] .swatch')
        .evaluateAll((all) => all.map((e) => getComputedStyle(e).getPropertyValue('--c')));
    await soon(async () => assert.equal(new Set(await read()).size, 9));
    const before = await read();
    await page.reload();
    await page.waitForSelector('[data-run]');
    await soon(async () => assert.deepEqual(await read(), before));
  },

  async 'new points and new runs appear by themselves; a zoomed card stays'(keep) {
    const server = await serve('fresh', (logdir) => {
      const run = new RunWriter(logdir, 'one');
      for (let step = 0; step < 50; step++) run.scalars(step, { 'a/loss': step, 'b/x': step });
      return run.flush();
    });
    const run = server.filled;
    const page = keep(await openCharts(server, '#timeseries&zoom=10~30||b/x'));
    await until('50', async () => (await footer(page, 'a/loss')).includes('50 of 50 points'));
    for (let step = 50; step < 80; step++) run.scalars(step, { 'a/loss': step, 'b/x': step });
    run.flush();
    await until('80', async () => (await footer(page, 'a/loss')).includes('80 of 80 points'));
    new RunWriter(server.logdir, 'two').scalars(0, { 'a/loss': 3 }).scalars(1, { 'a/loss': 2 }).flush();
    await until('two runs', async () => /^2 runs · 82 of 82/.test(await footer(page, 'a/loss')));
    await soon(async () => assert.ok(await page.evaluate(() => location.hash.includes('zoom=10~30'))));
    await page.getByRole('button', { name: 'Pause live updates' }).click();
    for (let step = 80; step < 90; step++) run.scalars(step, { 'a/loss': step });
    run.flush();
    const another = keep(await openCharts(server));
    await until('92 on a page that is not paused', async () => (await footer(another, 'a/loss')).includes('92 of 92'));
    await soon(async () => assert.match(await footer(page, 'a/loss'), /82 of 82/));
    await page.getByRole('button', { name: 'Resume live updates' }).click();
    await until('92', async () => (await footer(page, 'a/loss')).includes('92 of 92'));
  },

  async 'a name and a note are kept by the server; archived runs step aside'(keep) {
    const server = await serve('fresh', (logdir) => {
      for (const name of ['one', 'two']) new RunWriter(logdir, name).scalars(0, { x: 1 }).scalars(1, { x: 2 }).flush();
    });
    const page = keep(await openCharts(server));
    const row = page.locator('[data-run="one"]');
    await row.hover();
    await row.getByRole('button', { name: 'Actions for this run' }).click();
    await page.getByRole('menuitem', { name: 'Rename…' }).click();
    await page.getByLabel('Display name').fill('baseline');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForSelector('[data-run="one"] >> text=baseline');
    await kept(server, 'run/one', ({ name }) => name === 'baseline');
    await page.reload();
    await page.waitForSelector('[data-run="one"] >> text=baseline');
    await page.locator('[data-run="two"]').hover();
    await page.locator('[data-run="two"]').getByRole('button', { name: 'Actions for this run' }).click();
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await until('gone', async () => (await page.locator('[data-run]').count()) === 1);
    await page.getByRole('button', { name: '1 archived' }).click();
    await until('listed', async () => (await names(page)).join() === 'two');
  },
};
