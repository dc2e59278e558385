// Columns of the runs table: chosen, ordered, removed, sorted, filtered; the table over the whole window; the panel's width.
import assert from 'node:assert/strict';
import { RunWriter } from './logs.mjs';
import { card, openCharts, serve, shot, soon, until } from './harness.mjs';
import { names, rowOf, waitHash } from './runs.mjs';

const columns = (page) => page.locator('[data-column]').evaluateAll((all) => all.map((e) => e.dataset.column));
const footer = (page, tag) => card(page, tag).locator('footer').innerText();
const FOUR = '#timeseries&cols=m:min:val/loss,h:lr,h:opt,i:points';

export default {
  async 'columns are found by a search, marked where they differ, and taken in and out'(keep) {
    const page = keep(await openCharts('demo'));
    await page.getByRole('button', { name: 'Columns', exact: true }).click();
    const editor = page.getByRole('dialog', { name: 'Columns' });
    const shown = (name) => editor.getByRole('listitem').filter({ hasText: name });
    const other = (name) => editor.getByRole('option', { name });
    const find = editor.getByRole('combobox');
    await soon(async () => assert.match(await shown('lr').innerText(), /differs/));
    await soon(async () => assert.match(await other(/^model /).innerText(), /differs/));
    await soon(async () => assert.doesNotMatch(await other(/^batch/).innerText(), /differs/));
    await shot(page, 'runs-columns');
    await find.fill('top5');
    await until('found', async () => (await editor.getByRole('option').count()) === 4);
    await other(/^val\/top5 best at/).click();
    await find.fill('');
    for (const fact of ['state', 'start', 'duration', 'points']) await other(new RegExp(`^${fact}`)).click();
    await shown('lr').getByRole('checkbox').click();
    await until(
      'there',
      async () => (await columns(page)).join() === 'm:min:val/loss,m:best:val/top5,i:state,i:start,i:duration,i:points',
    );
    await page.keyboard.press('Escape');
    await soon(async () =>
      assert.equal(await rowOf(page, 'vit-b16/seed1').locator('.number').nth(2).innerText(), 'running'),
    );
    await until('a step', async () =>
      /^\d[\d\s]*$/.test(await rowOf(page, 'vit-b16/seed1').locator('.number').nth(1).innerText()),
    );
    await soon(async () =>
      assert.match(await waitHash(page, 'i:points'), /cols=m:min:val\/loss,m:best:val\/top5,i:state/),
    );
  },

  async 'a column that moved and goes at once leaves the focus on its neighbour'(keep) {
    const page = keep(await openCharts('grove', FOUR));
    await page.locator('[data-column="h:opt"] .sort').focus();
    // both in one task: the head is gone before the page draws a frame
    await page.evaluate(() => {
      const press = (init) =>
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, ...init }));
      press({ key: 'ArrowLeft', altKey: true });
      press({ key: 'Delete' });
    });
    await soon(async () => assert.deepEqual(await columns(page), ['m:min:val/loss', 'h:lr', 'i:points']));
    await soon(async () =>
      assert.equal(await page.evaluate(() => document.activeElement.closest('[data-column]')?.dataset.column), 'h:lr'),
    );
  },

  async 'columns move by drag and by keys, and go by Delete'(keep) {
    const page = keep(await openCharts('grove', FOUR));
    await page.locator('[data-column="i:points"]').dragTo(page.locator('[data-column="h:lr"]'), {
      targetPosition: { x: 4, y: 10 },
    });
    await until('dragged', async () => (await columns(page)).join() === 'm:min:val/loss,i:points,h:lr,h:opt');
    await page.locator('[data-column="h:opt"] .sort').focus();
    await page.keyboard.press('Alt+ArrowLeft');
    await page.keyboard.press('Alt+ArrowLeft');
    await until('moved', async () => (await columns(page)).join() === 'm:min:val/loss,h:opt,i:points,h:lr');
    await page.keyboard.press('Delete');
    await until('gone', async () => (await columns(page)).join() === 'm:min:val/loss,i:points,h:lr');
    await page.locator('[data-column="h:lr"]').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Move left' }).click();
    await until('moved again', async () => (await columns(page)).join() === 'm:min:val/loss,h:lr,i:points');
  },

  async 'a list of values filters, with a chip that the address keeps and that takes it away'(keep) {
    const page = keep(await openCharts('grove', FOUR));
    await page.getByRole('button', { name: 'Filter opt', exact: true }).click();
    const filter = page.getByRole('dialog', { name: 'Filter opt' });
    await filter.getByLabel('adam').uncheck();
    await filter.getByLabel('Runs without a value').uncheck();
    await shot(page, 'runs-filter-values');
    await page.keyboard.press('Escape');
    await until('72', async () => (await page.getByText('72 runs').count()) > 0);
    await until('drawn', async () => (await footer(page, 'val/loss')).startsWith('72 runs'));
    const hash = await waitHash(page, 'where=');
    const other = keep(await openCharts('grove', hash));
    await until('the same', async () => (await other.getByText('72 runs').count()) > 0);
    await soon(async () =>
      assert.match(
        await other.getByRole('group', { name: 'Column filters' }).innerText(),
        /opt: sgd, lion|opt: lion, sgd/,
      ),
    );
    await other.getByRole('button', { name: 'Remove the filter on opt' }).click();
    await until('all', async () => (await other.getByText('120 runs').count()) > 0);
  },

  async 'an interval filters numbers, by two thumbs or by typing, on a logarithmic track over decades'(keep) {
    const page = keep(await openCharts('grove', FOUR));
    await page.getByRole('button', { name: 'Filter lr', exact: true }).click();
    const filter = page.getByRole('dialog', { name: 'Filter lr' });
    await filter.getByRole('slider', { name: 'From' }).fill('0.5');
    await until(
      'the middle of four decades',
      async () => Number(await filter.getByLabel('From, as a number').inputValue()) === 0.001,
    );
    await filter.getByLabel('Runs without a value').uncheck();
    await until('three decades', async () => (await page.getByText('72 runs').count()) > 0);
    await filter.getByLabel('To, as a number').fill('0.05');
    await page.keyboard.press('Enter');
    await until('two', async () => (await page.getByText('48 runs').count()) > 0);
    await shot(page, 'runs-filter-interval');
    await soon(async () =>
      assert.match(await page.getByRole('group', { name: 'Column filters' }).innerText(), /lr: 0.001 – 0.05/),
    );
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Filter val/loss min', exact: true }).click();
    const metric = page.getByRole('dialog', {
      name: 'Filter val/loss min',
    });
    await metric.getByRole('slider', { name: 'To' }).fill('0.5');
    await until(
      'fewer',
      async () => Number(/(\d+) runs/.exec(await page.locator('aside .chips').first().innerText())[1]) < 48,
    );
    await soon(async () => assert.equal(await metric.getByRole('group').count(), 0));
  },

  async 'the table can take the whole window, and a link opens it so'(keep) {
    const page = keep(await openCharts('demo'));
    await page.keyboard.press('\\');
    await until('wide', async () => (await page.locator('aside').first().boundingBox()).width > 1400);
    await soon(async () => assert.equal(await page.locator('.slot').count(), 0));
    await shot(page, 'runs-full');
    const hash = await waitHash(page, 'table=full');
    await page.getByRole('button', { name: 'Runs over the whole window' }).click();
    await page.waitForSelector('.slot');
    assert.match(hash, /table=full/);
  },

  async 'the panel resizes, stays so after a reload, and closes under 75 pixels'(keep) {
    const page = keep(await openCharts('demo'));
    const grip = page.getByRole('separator', {
      name: 'Width of the runs panel',
    });
    const drag = async (to) => {
      const box = await grip.boundingBox();
      await page.mouse.move(box.x + 3, 400);
      await page.mouse.down();
      await page.mouse.move(to, 400, { steps: 5 });
      await page.mouse.up();
    };
    await drag(500);
    await until('500 wide', async () => Math.abs((await page.locator('aside').boundingBox()).width - 500) < 5);
    await page.reload();
    await page.waitForSelector('[data-run]');
    await soon(async () => assert.ok(Math.abs((await page.locator('aside').boundingBox()).width - 500) < 5));
    await drag(100);
    await soon(async () => assert.ok((await page.locator('aside').boundingBox()).width >= 220));
    await drag(60);
    await until('closed', async () => (await page.locator('aside').count()) === 0);
    await page.keyboard.press('[');
    await page.waitForSelector('[data-run]');
    await grip.focus();
    const before = (await page.locator('aside').boundingBox()).width;
    await page.keyboard.press('ArrowRight');
    await until('a little wider', async () => (await page.locator('aside').boundingBox()).width === before + 16);
  },

  async 'a filter on a column can leave nothing, and says so'(keep) {
    const page = keep(await openCharts('grove', '#timeseries&cols=h:opt'));
    await page.getByRole('button', { name: 'Filter opt', exact: true }).click();
    const filter = page.getByRole('dialog', { name: 'Filter opt' });
    await filter.getByLabel('All', { exact: true }).uncheck();
    await filter.getByLabel('Runs without a value').uncheck();
    await until('none', async () => (await names(page)).length === 0);
    await page.waitForSelector('text=No run matches the filter.');
    await page.getByRole('main').getByText('No run passes the filters.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Clear all filters' }).click();
    await until('all', async () => (await page.getByText('120 shown').count()) > 0);
  },

  async 'values are searched by an expression, and chosen as found'(keep) {
    const page = keep(await openCharts('grove', '#timeseries&cols=h:depth'));
    await page.getByRole('button', { name: 'Filter depth', exact: true }).click();
    const filter = page.getByRole('dialog', { name: 'Filter depth' });
    await filter.getByRole('searchbox').fill('^[02]$');
    await until('two and all', async () => (await filter.getByRole('group').getByRole('checkbox').count()) === 3);
    await filter.getByLabel('All', { exact: true }).uncheck();
    await page.keyboard.press('Escape');
    const left = await until(
      'fewer',
      async () => (await names(page)).length > 0 && page.locator('[data-run] .number').allInnerTexts(),
    );
    await until('none of them', async () =>
      (await page.locator('[data-run] .number').allInnerTexts()).every((v) => v !== '0' && v !== '2'),
    );
    assert.ok(left.length > 0);
  },

  async 'metric columns follow what is logged, and only runs with news are asked for'(keep) {
    const server = await serve('fresh', (logdir) => {
      const [one, two] = ['one', 'two'].map((name) =>
        new RunWriter(logdir, name).scalars(0, { loss: 4 }).scalars(1, { loss: 3 }).flush(),
      );
      return { one, two };
    });
    const { one, two } = server.filled;
    const page = keep(await openCharts(server, '#timeseries&cols=m:last:loss&sort=m:last:loss'));
    const cell = async (name) => (await rowOf(page, name).locator('.number').innerText()).trim();
    await until('both', async () => (await cell('one')) === '3' && (await cell('two')) === '3');
    const asked = [];
    page.on('request', (r) => r.url().endsWith('/summaries') && asked.push(r.postDataJSON().runs?.length ?? 'all'));
    two.scalars(2, { loss: 2 }).flush();
    await until('news', async () => (await cell('two')) === '2');
    assert.deepEqual(new Set(asked), new Set([1]));
    await soon(async () => assert.deepEqual(await names(page), ['two', 'one']));
    one.scalars(2, { loss: 1 }).flush();
    new RunWriter(server.logdir, 'three').scalars(0, { loss: 0.5 }).flush();
    await until(
      'a new run',
      async () =>
        (await names(page)).join() === 'three,one,two' &&
        (await cell('three')) === '0.5000' &&
        (await cell('one')) === '1',
    );
  },

  async 'details stand beside the table that fills the window'(keep) {
    const page = keep(await openCharts('demo', '#timeseries'));
    await page.keyboard.press('\\');
    await page.keyboard.press('d');
    const drawer = page.getByRole('complementary', {
      name: 'Details of a run',
    });
    await drawer.waitFor();
    await shot(page, 'runs-full-details');
    await soon(async () => {
      const [table, details] = [await page.locator('aside').first().boundingBox(), await drawer.boundingBox()];
      assert.ok(
        table.width > 800 && Math.abs(table.x + table.width - details.x) < 2 && details.x + details.width === 1440,
      );
    });
  },
};
