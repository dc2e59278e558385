// Runs as a tree of folders: folding, keys, hiding and filtering; the best so many; what the address keeps.
import assert from 'node:assert/strict';
import { card, openCharts, shot, soon, until } from './harness.mjs';
import { names, rowOf, waitHash } from './runs.mjs';

const groups = (page) => page.locator('[data-group]').evaluateAll((rows) => rows.map((row) => row.dataset.group));
const activeRow = (page) =>
  page.evaluate(() => {
    const id = document.querySelector('[role=treegrid]').getAttribute('aria-activedescendant');
    const row = id && document.getElementById(id);
    return row ? (row.dataset.run ?? row.dataset.group) : '';
  });
const footer = (page, tag) => card(page, tag).locator('footer').innerText();

export default {
  async 'folders nest, fold by a click, count, and the address keeps it'(keep) {
    const page = keep(await openCharts('grove'));
    await page.getByRole('button', { name: /^Group/ }).click();
    await page.getByRole('menuitemcheckbox', { name: 'As a folder tree' }).click();
    await until('folders', async () => (await groups(page)).join().startsWith('nlp/,nlp/sweep-0/'));
    await soon(async () => assert.match(await page.locator('[data-group="nlp/"]').innerText(), /nlp\s*\(60\)/));
    await soon(async () =>
      assert.equal(await page.locator('[data-group="nlp/sweep-0/"]').getAttribute('aria-level'), '2'),
    );
    await page.locator('[data-group="nlp/sweep-0/"] .fold').click();
    await until(
      'folded',
      async () => (await page.locator('[data-group="nlp/sweep-0/"]').getAttribute('aria-expanded')) === 'false',
    );
    await page.locator('[data-group="vision/"] .fold').click();
    await until('fewer', async () => (await names(page)).length === 10);
    await shot(page, 'runs-tree');
    const hash = await waitHash(page, 'fold=');
    const other = keep(await openCharts('grove', hash));
    await until('the same', async () => (await groups(other)).join() === 'nlp/,nlp/sweep-0/,nlp/sweep-1/,vision/');
    await other.locator('[data-group="nlp/"]').click({ button: 'right' });
    await other.getByRole('menuitem', { name: 'Fold all', exact: true }).click();
    await until(
      'two',
      async () => (await groups(other)).join() === 'nlp/,vision/' && (await names(other)).length === 0,
    );
    await soon(async () => assert.match(await waitHash(other, 'folds=all'), /^#timeseries&folds=all&group=tree$/));
  },

  async 'arrow keys walk the tree, fold it and open it; Space hides; Home and End go to the ends'(keep) {
    const page = keep(await openCharts('grove', '#timeseries&group=tree&folds=all'));
    await page.locator('[role=treegrid]').focus();
    await page.keyboard.press('ArrowDown');
    await soon(async () => assert.equal(await activeRow(page), 'nlp/'));
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await soon(async () => assert.equal(await activeRow(page), 'nlp/sweep-0/'));
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await soon(async () => assert.equal(await activeRow(page), 'nlp/sweep-0/run-00000'));
    await page.keyboard.press(' ');
    await until('hidden', async () => (await footer(page, 'val/loss')).startsWith('119 runs'));
    await page.keyboard.press('ArrowLeft');
    await soon(async () => assert.equal(await activeRow(page), 'nlp/sweep-0/'));
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await soon(async () => assert.equal(await activeRow(page), 'nlp/'));
    await page.keyboard.press('ArrowLeft');
    await until('folded', async () => (await groups(page)).join() === 'nlp/,vision/');
    await page.keyboard.press('End');
    await soon(async () => assert.equal(await activeRow(page), 'vision/'));
    await page.keyboard.press(' ');
    await until('59 left', async () => (await footer(page, 'val/loss')).startsWith('59 runs'));
    await soon(async () => assert.match(await waitHash(page, 'vision'), /hide=nlp\/sweep-0\/run-00000,vision\/(&|$)/));
    await page.keyboard.press('Home');
    await soon(async () => assert.equal(await activeRow(page), 'nlp/'));
  },

  async 'a swatch of a folder hides or solos all beneath, as one word of the address; a run of it can come back'(keep) {
    const page = keep(await openCharts('grove', '#timeseries&group=tree'));
    const swatch = page.getByRole('button', {
      name: 'Show or hide all of nlp',
      exact: true,
    });
    await swatch.click();
    await until('60', async () => (await footer(page, 'val/loss')).startsWith('60 runs'));
    await soon(async () => assert.match(await waitHash(page, 'hide='), /hide=nlp\/(&|$)/));
    await page.getByRole('button', { name: 'Show or hide nlp/sweep-0/run-00002' }).click();
    await until('61', async () => (await footer(page, 'val/loss')).startsWith('61 runs'));
    await swatch.click({ modifiers: ['Alt'] });
    await until('solo', async () => /only=nlp\/(&|$)/.test(await page.evaluate(() => location.hash)));
    await until('60 again', async () => (await footer(page, 'val/loss')).startsWith('60 runs'));
    await swatch.dblclick();
    await until('all again', async () => (await footer(page, 'val/loss')).startsWith('120 runs'));
  },

  async 'a filter keeps the folders above what it finds, and hides only what it finds'(keep) {
    const page = keep(await openCharts('grove', '#timeseries&group=tree'));
    await page.locator('#run-filter').fill('run-0010[13]');
    await until('two', async () => (await names(page)).join() === 'vision/sweep-1/run-00101,vision/sweep-1/run-00103');
    await soon(async () => assert.deepEqual(await groups(page), ['vision/', 'vision/sweep-1/']));
    await page
      .getByRole('button', {
        name: 'Show or hide all of vision',
        exact: true,
      })
      .click();
    await page.locator('#run-filter').fill('');
    await until('118', async () => (await footer(page, 'val/loss')).startsWith('118 runs'));
  },

  async 'the tree follows the order: the folder of the best run comes first'(keep) {
    const page = keep(await openCharts('grove', '#timeseries&group=tree&sort=-m:min:val/loss'));
    const order = () => page.locator('[data-run] .number:nth-of-type(3)').allInnerTexts();
    await until('sorted', async () => (await order()).length > 10 && (await order())[0] !== '');
    await soon(async () => {
      const first = (await order()).map(Number).slice(0, 5);
      assert.ok(
        first.every((v, i) => i === 0 || v <= first[i - 1]),
        first.join(),
      );
    });
    const worst = await page.evaluate(() => document.querySelector('[data-run] .number').textContent);
    await page.getByRole('button', { name: /^Group/ }).click();
    await page.getByRole('menuitemcheckbox', { name: 'No groups' }).click();
    await until('flat', async () => (await page.locator('[data-group]').count()) === 0);
    await soon(async () =>
      assert.equal(await page.evaluate(() => document.querySelector('[data-run] .number').textContent), worst),
    );
  },

  async 'the best ten by a metric are listed and drawn, by a rule that is in the address'(keep) {
    const page = keep(await openCharts('grove'));
    await page.getByRole('button', { name: 'Top N…' }).click();
    await page
      .getByRole('dialog', { name: 'Only the best runs' })
      .getByRole('button', { name: '10', exact: true })
      .click();
    await until('ten', async () => (await names(page)).length === 10);
    await shot(page, 'runs-top');
    await page.keyboard.press('Escape');
    await until('drawn', async () => (await footer(page, 'val/loss')).startsWith('10 runs'));
    const hash = await waitHash(page, 'top=10');
    assert.match(hash, /sort=m:min:val\/loss&top=10/);
    const other = keep(await openCharts('grove', hash));
    await until('the same', async () => (await names(other)).join() === (await names(page)).join());
    const best = await names(page);
    await other.locator('[data-column="m:min:val/loss"]').click({ button: 'right' });
    await other.getByRole('menuitemcheckbox', { name: 'Sort descending' }).click();
    await until(
      'the worst ten',
      async () => (await names(other)).length === 10 && !(await names(other)).some((name) => best.includes(name)),
    );
    await other.getByRole('button', { name: 'Top 10' }).click();
    await other.getByRole('spinbutton', { name: 'How many' }).fill('3');
    await until('three', async () => (await names(other)).length === 3);
  },

  async 'a group shows the best of its runs and what they share'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&group=path&cols=m:min:val/loss,h:lr,h:batch'));
    const row = page.locator('[data-group="vit-b16"]');
    await until('sums', async () => (await row.locator('.number').count()) === 3);
    const values = await page.locator('[data-run^="vit-b16/"] .number:nth-of-type(3)').allInnerTexts();
    await soon(async () =>
      assert.equal(
        await row.locator('.number').first().innerText(),
        String(Math.min(...values.map(Number)).toPrecision(4)),
      ),
    );
    await soon(async () =>
      assert.match(
        await row.locator('.number').first().getAttribute('title'),
        /^best of 3: [\d.]+; mean [\d.]+ ± [\d.]+$/,
      ),
    );
    await soon(async () => assert.deepEqual((await row.locator('.number').allInnerTexts()).slice(1), ['3e−4', '256']));
  },

  async 'groups by an expression and by the column of a hyperparameter'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&cols=h:lr'));
    await page.getByRole('button', { name: /^Group/ }).click();
    await page.getByRole('menuitemcheckbox', { name: 'By regular expression…' }).click();
    await page.getByLabel('Regular expression over names').fill('seed(\\d)');
    await page.keyboard.press('Enter');
    await until('three', async () => (await groups(page)).join() === '1,2,3');
    await waitHash(page, 'group=regex:seed');
    await page.locator('[data-column="h:lr"]').click({ button: 'right' });
    await page.getByRole('menuitemcheckbox', { name: 'Group by this column' }).click();
    await until('by lr', async () => (await groups(page)).join() === '0.0003,0.0004,0.001');
  },

  async 'rows show a run where its folder holds nothing else'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&group=tree'));
    await until('three folders', async () => (await groups(page)).join() === 'convnext-s/,resnet-50/,vit-b16/');
    await soon(async () => assert.equal(await rowOf(page, 'vit-b16/seed1').locator('.leaf').innerText(), 'seed1'));
    await soon(async () => assert.equal(await rowOf(page, 'vit-b16/seed1').getAttribute('aria-level'), '2'));
  },
};
