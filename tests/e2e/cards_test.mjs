// Cards of time series: drags, tooltip, several tags in one chart, descriptions, downloads, pins, pages, size. What a card
// draws is in lines_test.mjs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { address, axe, card, open, openCharts, serve, shot, soon, until } from './harness.mjs';
import { RunWriter } from './logs.mjs';

const plot = (page, tag) => card(page, tag).locator('.plot');
const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));
const inHash = (page, text) => until(`${text} in the address`, async () => (await hash(page)).includes(text));

export default {
  async 'a drag that was aborted leaves nothing behind: a later drop of something else merges no cards'(keep) {
    const page = keep(await openCharts('demo'));
    const drag = (tag, what, kinds) =>
      card(page, tag)
        .locator('h3')
        .evaluate(
          (title, [what, kinds]) => {
            const dataTransfer = new DataTransfer();
            for (const kind of kinds) dataTransfer.setData(kind, 'x');
            const event = new DragEvent(what, {
              bubbles: true,
              cancelable: true,
              dataTransfer,
            });
            title.dispatchEvent(event);
            return event.defaultPrevented;
          },
          [what, kinds],
        );
    await drag('train/loss', 'dragstart', []);
    await drag('train/loss', 'dragend', []);
    for (const kinds of [['text/plain'], ['application/x-seaboard-card']]) {
      assert.equal(await drag('val/loss', 'dragover', kinds), false);
      await drag('val/loss', 'drop', kinds);
      await soon(async () => assert.doesNotMatch(await address(page), /combine=/));
    }
    // a drag that goes on is dropped, but nothing else is while it does
    await drag('train/loss', 'dragstart', []);
    assert.equal(await drag('val/loss', 'dragover', ['text/plain']), false);
    await drag('val/loss', 'drop', ['application/x-seaboard-card']);
    await soon(async () => assert.match(await address(page), /combine=/));
  },

  async 'the tooltip has every column of every run, says who ended, and is ordered as chosen'(keep) {
    const page = keep(await openCharts('demo'));
    await plot(page, 'train/loss').click({ position: { x: 440, y: 90 } });
    await page.waitForSelector('.tip.pinned');
    await soon(async () =>
      assert.deepEqual(await page.locator('.tip th').allInnerTexts(), [
        'run',
        'smoothed',
        'value',
        'step',
        'time',
        'relative',
      ]),
    );
    const row = page.locator('.tip tbody tr');
    const names = () => row.locator('.name').allInnerTexts();
    await soon(async () =>
      assert.match(await row.first().innerText(), /\S+\s+[\d.]+\s+[\d.]+\s+3\u2009\d{3}\s+[\d: -]+\s+\d+ h( \d+ min)?/),
    );
    const ended = page.locator('.tip tr.outside');
    await soon(async () => assert.equal(await ended.count(), 3));
    await soon(async () =>
      assert.match((await ended.allInnerTexts()).join(), /convnext-s\/seed1.*ended at 2\u2009800/s),
    );
    await soon(async () =>
      assert.deepEqual(
        (await names()).slice(6).map((n) => n.slice(0, 8)),
        ['convnext', 'convnext', 'convnext'],
      ),
    );
    await shot(page, 'tooltip-columns');
    const values = async () => (await row.locator('td:nth-child(3)').allInnerTexts()).slice(0, 6).map(Number);
    const choose = async (label) => {
      await page.getByRole('button', { name: 'View ▾' }).click();
      await page.getByRole('dialog', { name: 'View' }).getByLabel('Order in tooltips').selectOption({ label });
      await page.keyboard.press('Escape');
      await plot(page, 'train/loss').click({
        position: { x: 440, y: 90 },
      });
      await page.waitForSelector('.tip.pinned');
    };
    await choose('lowest first');
    await soon(async () => {
      const up = await values();
      assert.deepEqual(
        up,
        [...up].sort((a, b) => a - b),
      );
    });
    await choose('highest first');
    await soon(async () => {
      const down = await values();
      assert.deepEqual(
        down,
        [...down].sort((a, b) => b - a),
      );
    });
    await choose('by name');
    await soon(async () => {
      const byName = (await names()).slice(0, 6);
      assert.deepEqual(byName, [...byName].sort());
    });
    await choose('nearest vertically');
    await page.getByRole('button', { name: 'View ▾' }).click();
    await page.getByLabel('Rows in tooltips').fill('2'); // a third of this card has room for three
    await page.keyboard.press('Tab');
    await axe(page, 'view panel');
    await shot(page, 'view-panel');
    await page.keyboard.press('Escape');
    await plot(page, 'train/loss').hover({ position: { x: 100, y: 90 } });
    await until('two rows', async () => (await row.count()) === 2);
    await soon(async () => assert.match(await page.locator('.tip').innerText(), /and 7 more/));
  },

  async 'a click pins the tooltip: it stays, can be copied, and Escape or a click closes it'(keep) {
    const page = keep(
      await openCharts('demo', '', {
        permissions: ['clipboard-read', 'clipboard-write'],
      }),
    );
    await plot(page, 'train/loss').click({ position: { x: 180, y: 90 } });
    const pinned = page.getByRole('dialog', {
      name: 'Values where you clicked',
    });
    await pinned.waitFor();
    await page.mouse.move(20, 700);
    await plot(page, 'train/lr').hover({ position: { x: 100, y: 90 } });
    await soon(async () => assert.equal(await pinned.count(), 1));
    await soon(async () => assert.equal(await pinned.locator('tbody tr').count(), 9));
    await axe(page, 'pinned tooltip');
    await shot(page, 'tooltip-pinned');
    await pinned.getByRole('button', { name: 'Copy these values' }).click();
    await page.waitForSelector('text=9 rows copied');
    const text = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(text.split('\n').length, 10);
    assert.match(text, /^run\tsmoothed\tvalue\tstep\ttime\trelative\n\S+\t[\d.]+\t[\d.]{8,}\t\d+\t\d{4}-/);
    await page.keyboard.press('Escape');
    await until('closed', async () => (await pinned.count()) === 0);
    await plot(page, 'train/loss').click({ position: { x: 180, y: 90 } });
    await pinned.waitFor();
    await plot(page, 'train/lr').click({ position: { x: 100, y: 90 } });
    await until('closed by a click', async () => (await pinned.count()) === 0);
    await plot(page, 'train/loss').focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('.tip');
    await page.keyboard.press('Enter');
    await pinned.waitFor();
  },

  async 'tags without a name and with odd ones have titles, and are drawn'(keep) {
    const odd = ['', '<b>bold</b>', '../up', 'say "hi"', '损失/训练 🐟', 'a\nb'];
    const server = await serve('fresh', (logdir) => {
      const run = new RunWriter(logdir, 'r');
      for (let step = 0; step < 5; step++) run.scalars(step, Object.fromEntries(odd.map((tag, i) => [tag, i + step])));
      run.flush();
    });
    const page = keep(await openCharts(server));
    await until('all drawn', async () => (await page.locator('.plot[data-painted="1"]').count()) === odd.length);
    const titles = (await page.locator('.slot h3').allTextContents())
      .map((text) => text.trim().replace(/\s+/g, ' '))
      .sort();
    assert.deepEqual(
      titles,
      ['(tag without a name)', '../up', '<b>bold</b>', 'a b', 'say "hi"', '损失/训练 🐟'].sort(),
    );
    await shot(page, 'odd-names');
  },

  async 'several tags are drawn in one chart, with a legend, a second axis, and can be split again'(keep) {
    const page = keep(await openCharts('demo'));
    const menu = async (tag, item) => {
      await card(page, tag).hover();
      await card(page, tag).getByRole('button', { name: 'More for this chart' }).click();
      await page
        .getByRole('menuitem', { name: item })
        .or(page.getByRole('menuitemcheckbox', { name: item }))
        .click();
    };
    await menu('train/loss', 'Combine with…');
    const form = page.getByRole('dialog', { name: 'Combine with…' });
    await soon(async () =>
      assert.match(await form.getByRole('option').first().innerText(), /^val\/loss\s*its counterpart/),
    );
    await axe(page, 'combine form');
    await form.getByLabel('Filter tags').fill('accuracy');
    await page.keyboard.press('Enter');
    const key = 'train/loss\u001fval/accuracy';
    await inHash(page, `combine=${key}`);
    await until('18 lines', async () => (await plot(page, key).getAttribute('data-painted')) === '18');
    await soon(async () => assert.equal(await card(page, 'train/loss').count(), 0));
    await soon(async () => assert.equal(await card(page, 'val/accuracy').count(), 0));
    await soon(async () =>
      assert.deepEqual(await card(page, key).locator('li').allInnerTexts(), ['train/loss', 'val/accuracy']),
    );
    await plot(page, key).hover({ position: { x: 150, y: 60 } });
    await page.waitForSelector('.tip');
    await soon(async () =>
      assert.deepEqual((await page.locator('.tip th').allInnerTexts()).slice(0, 3), ['run', 'tag', 'smoothed']),
    );
    await menu(key, 'Second y axis');
    await inHash(page, `y2=${key}`);
    await shot(page, 'combined');
    await card(page, key).hover();
    await card(page, key).getByRole('button', { name: 'More for this chart' }).click();
    const [svg] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Chart as SVG' }).click(),
    ]);
    const text = readFileSync(await svg.path(), 'utf8');
    assert.match(text, /stroke-dasharray="6 3"/);
    assert.match(text, /vit-b16\/seed1 · val\/accuracy/);
    await page.mouse.move(5, 600);
    await plot(page, key).hover({ position: { x: 150, y: 60 } });
    await page.keyboard.press('p');
    await page.keyboard.press('f');
    await until(
      'at full size',
      async () => (await page.locator('dialog[open] .plot').getAttribute('data-painted')) === '18',
    );
    await shot(page, 'combined-full');
    const other = keep(await openCharts('demo', await page.evaluate(() => location.hash)));
    await other.waitForSelector('dialog[open] .plot[data-painted="18"]');
    await page.keyboard.press('Escape');
    await until('pinned too', async () => (await page.locator(`.slot [data-tag="${key}"]`).count()) === 2);
    await menu(key, 'Split into single charts');
    await until(
      'two cards again',
      async () => (await card(page, 'train/loss').count()) === 1 && !(await hash(page)).includes('combine='),
    );
  },

  async 'a card dragged by its title onto another is combined with it'(keep) {
    const page = keep(await openCharts('demo'));
    await card(page, 'train/lr').locator('h3').dragTo(card(page, 'train/loss').locator('.plot'));
    await inHash(page, 'combine=train/loss\u001ftrain/lr');
  },

  async 'training and validation are shown together, tags and the runs of Keras alike'(keep) {
    const page = keep(await openCharts('demo'));
    await page.getByRole('button', { name: 'View ▾' }).click();
    await soon(async () => assert.match(await page.getByRole('dialog', { name: 'View' }).innerText(), /1 pairs/));
    await page.getByRole('checkbox', { name: /Training and validation/ }).check();
    await inHash(page, 'pair=on');
    await page.keyboard.press('Escape');
    await until(
      'one card of two',
      async () => (await plot(page, 'train/loss\u001fval/loss').getAttribute('data-painted')) === '18',
    );
    await soon(async () =>
      assert.match(await card(page, 'train/loss\u001fval/loss').locator('h3').innerText(), /train \+ val\/loss/),
    );
    await shot(page, 'paired');
    const server = await serve('fresh', (logdir) => {
      for (const [name, level] of [
        ['x/train', 1],
        ['x/validation', 2],
        ['y/train', 3],
      ]) {
        const run = new RunWriter(logdir, name, 1700000000);
        for (let step = 0; step < 20; step++) run.scalars(step, { epoch_loss: level / (step + 1) });
        run.flush();
      }
    });
    const keras = keep(await openCharts(server, '#timeseries&smooth=0&pair=on'));
    await until('drawn', async () => (await plot(keras, 'epoch_loss').getAttribute('data-painted')) === '3');
    await plot(keras, 'epoch_loss').hover({ position: { x: 150, y: 60 } });
    await keras.waitForSelector('.tip');
    const colour = (name) =>
      keras
        .locator('.tip tbody tr', { hasText: name })
        .locator('i')
        .evaluate((i) => i.style.background);
    await soon(async () => assert.equal(await colour('x/train'), await colour('x/validation')));
    await soon(async () => assert.notEqual(await colour('x/train'), await colour('y/train')));
    await card(keras, 'epoch_loss').getByRole('button', { name: 'More for this chart' }).click();
    const [svg] = await Promise.all([
      keras.waitForEvent('download'),
      keras.getByRole('menuitem', { name: 'Chart as SVG' }).click(),
    ]);
    await soon(async () => assert.equal(readFileSync(await svg.path(), 'utf8').match(/stroke-dasharray/g).length, 2));
  },

  async 'the description of a tag opens from its card, as safe markdown'(keep) {
    const server = await serve('fresh', (logdir) => {
      new RunWriter(logdir, 'r', 1700000000)
        .described(0, 'loss', 1, 'The **cross** entropy <script>alert(1)</script>')
        .scalars(1, { loss: 2, other: 3 })
        .flush();
    });
    const page = keep(await openCharts(server));
    await soon(async () =>
      assert.equal(await card(page, 'other').getByRole('button', { name: 'Description' }).count(), 0),
    );
    await card(page, 'loss').getByRole('button', { name: 'Description' }).click();
    const about = page.getByRole('dialog', { name: 'Description' });
    await soon(async () => assert.equal(await about.locator('strong').innerText(), 'cross'));
    await soon(async () => assert.equal(await about.locator('script').count(), 0));
    await shot(page, 'description');
    await axe(page, 'description');
  },

  async 'data download links on cards: one run or all, CSV, JSON and SVG'(keep) {
    const page = keep(await openCharts('demo'));
    await page.getByRole('button', { name: 'View ▾' }).click();
    await page.getByRole('checkbox', { name: 'Show data download links' }).check();
    await page.keyboard.press('Escape');
    const loss = card(page, 'val/loss');
    await loss.scrollIntoViewIfNeeded();
    const csv = async () =>
      (await (await fetch(await loss.getByRole('link', { name: 'CSV' }).getAttribute('href'))).text())
        .trim()
        .split('\n');
    await soon(async () => assert.equal((await csv()).length, 1 + 819));
    await loss.getByLabel('Run to download').selectOption('vit-b16/seed2');
    await soon(async () => {
      const rows = await csv();
      assert.equal(rows.length, 1 + 101);
      assert.ok(rows.slice(1).every((row) => row.startsWith('vit-b16/seed2,val/loss,')));
    });
    const json = await (await fetch(await loss.getByRole('link', { name: 'JSON' }).getAttribute('href'))).json();
    assert.equal(json.length, 101);
    const [svg] = await Promise.all([page.waitForEvent('download'), loss.getByRole('button', { name: 'SVG' }).click()]);
    await soon(async () => assert.match(readFileSync(await svg.path(), 'utf8'), /^<svg /));
    await shot(page, 'download-links');
    await axe(page, 'download links');
    await page.reload();
    await loss.getByRole('link', { name: 'CSV' }).waitFor();
  },

  async 'pinned cards are put in order by drag and from the keyboard'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&pins=train/loss,val/loss,val/ece'));
    const pinned = (tag) => page.locator(`[data-card="*\\a ${tag}"]`);
    await pinned('val/ece')
      .locator('h3')
      .dragTo(pinned('train/loss').locator('.plot'), {
        targetPosition: { x: 60, y: 60 },
      });
    await inHash(page, 'pins=val/ece,train/loss,val/loss');
    await pinned('val/ece').hover();
    await pinned('val/ece').getByRole('button', { name: 'More for this chart' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Move later' }).press('Enter');
    await inHash(page, 'pins=train/loss,val/ece,val/loss');
    await soon(async () =>
      assert.deepEqual(await page.locator('[data-card^="*"] h3').allInnerTexts(), [
        'train/loss',
        'val/ece',
        'val/loss',
      ]),
    );
    await page.getByRole('button', { name: 'Unpin all' }).click();
    await until('none', async () => !(await hash(page)).includes('pins='));
  },

  async 'the tag filter suggests the first 25 and counts the rest'(keep) {
    const page = keep(await openCharts('tags'));
    const field = page.getByRole('combobox', { name: 'Filter tags' });
    await field.fill('param_1');
    const options = page.getByRole('option');
    await until('suggestions', async () => (await options.count()) === 25);
    await soon(async () => assert.match(await page.locator('.list').innerText(), /and 5\u2009475 more/));
    await shot(page, 'suggestions');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const second = await options.nth(1).innerText();
    await page.keyboard.press('Enter');
    await inHash(page, `tags=^${second}$`);
    await until('that card alone', async () => (await page.locator('.slot').count()) === 1);
    await soon(async () => assert.equal(await options.count(), 0));
  },

  async 'groups have pages when asked for, and scroll endlessly otherwise'(keep) {
    const page = keep(await openCharts('demo'));
    await soon(async () => assert.equal(await page.locator('.pager').count(), 0));
    await page.evaluate(() => localStorage.setItem('seaboard.settings', JSON.stringify({ 'cards.pageSize': 2 })));
    await page.reload();
    await page.waitForSelector('.pager');
    const names = () => page.locator('.section', { hasText: 'val' }).last().locator('h3').allInnerTexts();
    await soon(async () => assert.deepEqual(await names(), ['val/accuracy', 'val/ece']));
    const pager = page.locator('.section', { hasText: 'val' }).last().locator('.pager');
    await pager.getByRole('button', { name: 'Next page' }).click();
    await inHash(page, 'page=2|/val');
    await until('the next two', async () => (await names()).join() === 'val/latency_ms,val/loss');
    await pager.getByRole('spinbutton').fill('3');
    await page.keyboard.press('Enter');
    await until('the last', async () => (await names()).join() === 'val/top5');
    await shot(page, 'pages');
    await axe(page, 'pages');
  },

  async 'cards that no shown run has step aside, and come back when asked for'(keep) {
    const server = await serve('fresh', (logdir) => {
      new RunWriter(logdir, 'a', 1700000000).scalars(0, { x: 1, both: 1 }).scalars(1, { x: 1, both: 1 }).flush();
      new RunWriter(logdir, 'b', 1700000000).scalars(0, { y: 1, both: 1 }).scalars(1, { y: 1, both: 1 }).flush();
    });
    const page = keep(await openCharts(server, '#timeseries&hide=b'));
    await until('two cards', async () => (await page.locator('.slot h3').allInnerTexts()).join() === 'both,x');
    await page.getByRole('button', { name: 'View ▾' }).click();
    await page.getByRole('checkbox', { name: 'Hide cards without data of the shown runs' }).uncheck();
    await inHash(page, 'empty=show');
    await until('all three', async () => (await page.locator('.slot h3').allInnerTexts()).join() === 'both,x,y');
    await soon(async () => assert.match(await card(page, 'y').innerText(), /None of the runs shown has this tag/));
  },

  async 'a card takes the full width, fits its data again, and tells its whole tag'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&zoom=100~500||train/loss'));
    await soon(async () =>
      assert.equal(await card(page, 'train/loss').locator('h3').getAttribute('title'), 'train/loss'),
    );
    const before = (await card(page, 'train/loss').boundingBox()).width;
    await card(page, 'train/loss').getByRole('button', { name: 'Reset zoom' }).click();
    await until('fitted', async () => !(await hash(page)).includes('zoom='));
    await soon(async () =>
      assert.equal(await card(page, 'train/loss').getByRole('button', { name: 'Reset zoom' }).count(), 0),
    );
    await card(page, 'train/loss').hover();
    await card(page, 'train/loss').getByRole('button', { name: 'More for this chart' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Full width' }).click();
    await inHash(page, 'wide=train/loss');
    await until('wide', async () => (await card(page, 'train/loss').boundingBox()).width > before * 2);
  },

  async 'a card whose points cannot be had says so, and recovers'(keep) {
    const server = await serve('demo');
    const page = keep(await open(server, '', { allowErrors: true }));
    await page.route('**/api/v1/scalars', (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/json',
        body: '{"error":{"code":"busy","message":"too much at once"}}',
      }),
    );
    await page.reload();
    await page.waitForSelector('text=too much at once');
    await shot(page, 'card-failed');
    await page.unroute('**/api/v1/scalars');
    await page.getByRole('radio', { name: 'Wall' }).click();
    await page.waitForSelector('.plot[data-painted="9"]');
    await soon(async () => assert.equal(await page.locator('text=too much at once').count(), 0));
  },
};
