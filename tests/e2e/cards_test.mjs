// Cards of time series: ranges and scales of axes, tooltip, smoothing of one card, several tags in one chart, attempts,
// baseline, descriptions, pins.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { AxeBuilder, address, card, open, openCharts, serve, shot, soon, until } from './harness.mjs';
import { RunWriter } from './logs.mjs';

const plot = (page, tag) => card(page, tag).locator('.plot');
const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));
const inHash = (page, text) => until(`${text} in the address`, async () => (await hash(page)).includes(text));
async function clean(page, what) {
  const found = await new AxeBuilder({ page }).analyze();
  assert.deepEqual(
    found.violations.map((v) => `${what}: ${v.id} ${v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`),
    [],
  );
}
const axis = (page, tag, which) =>
  card(page, tag).getByRole('button', {
    name: which === 'x' ? 'Horizontal axis' : 'Vertical axis',
  });

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

  async 'a click on an axis opens its form: a typed range and a scale are kept in the address'(keep) {
    const page = keep(await openCharts('demo'));
    await axis(page, 'train/loss', 'y').click();
    const form = page.getByRole('dialog', { name: 'Vertical axis' });
    await form.getByLabel('from').fill('5');
    await form.getByLabel('to').fill('1');
    await form.getByRole('button', { name: 'Set' }).click();
    await soon(async () => assert.match(await form.getByRole('alert').innerText(), /less than/));
    await form.getByLabel('from').fill('nothing');
    await form.getByRole('button', { name: 'Set' }).click();
    await soon(async () => assert.match(await form.getByRole('alert').innerText(), /numbers/));
    await clean(page, 'axis form');
    await shot(page, 'axis-form');
    await form.getByLabel('from').fill('0.25');
    await form.getByLabel('to').fill('1.5');
    await page.keyboard.press('Enter');
    await inHash(page, 'zoom=|0.25~1.5|train/loss');
    await soon(async () => assert.equal(await form.count(), 0));
    await axis(page, 'train/loss', 'x').focus();
    await page.keyboard.press('Enter');
    const x = page.getByRole('dialog', { name: 'Horizontal axis' });
    await x.getByLabel('from').fill('500');
    await x.getByLabel('to').fill('2k');
    await page.keyboard.press('Enter');
    await inHash(page, 'zoom=500~2000|0.25~1.5|train/loss');
    await axis(page, 'train/loss', 'y').click();
    await form.getByRole('radio', { name: 'symlog', exact: true }).click();
    await inHash(page, 'symlogy=train/loss');
    await form.getByRole('button', { name: 'Fit to data' }).click();
    await inHash(page, 'zoom=500~2000||train/loss');
    await axis(page, 'train/loss', 'y').click();
    await form.waitFor();
    await page.keyboard.press('Escape');
    await until('closed by Escape', async () => (await form.count()) === 0);
    await soon(async () =>
      assert.ok(await axis(page, 'train/loss', 'y').evaluate((b) => b === document.activeElement)),
    );
  },

  async 'ranges of time are typed as times'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&x=relative'));
    await axis(page, 'train/loss', 'x').click();
    const form = page.getByRole('dialog', { name: 'Horizontal axis' });
    await form.getByLabel('from').fill('30 min');
    await form.getByLabel('to').fill('1 h 30 min');
    await page.keyboard.press('Enter');
    await inHash(page, 'zoom=1800~5400||train/loss');
  },

  async 'symlog and log are drawn on both axes, in every place a card is'(keep) {
    const page = keep(
      await openCharts('demo', '#timeseries&symlogy=train/loss&logy=val/loss&xscale=symlog&full=train/loss'),
    );
    await page.waitForSelector('dialog[open] .plot[data-painted="9"]');
    await shot(page, 'symlog-full');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.slot .plot[data-painted="9"]');
    await shot(page, 'symlog');
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
    await clean(page, 'view panel');
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
    await clean(page, 'pinned tooltip');
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

  async 'a card can have a smoothing of its own, which says so and can be taken back'(keep) {
    const page = keep(await openCharts('demo'));
    await card(page, 'train/loss').hover();
    await card(page, 'train/loss').getByRole('button', { name: 'More for this chart' }).click();
    await page.getByRole('menuitem', { name: 'Smoothing of this card…' }).click();
    const form = page.getByRole('dialog', {
      name: 'Smoothing of this card…',
    });
    const asked = page.waitForRequest((r) => r.url().endsWith('/scalars') && r.postData().includes('"kind":"median"'));
    await form.getByLabel('Smoothing method').selectOption('median');
    await form.getByLabel('Smoothing', { exact: true }).fill('0.9');
    await asked;
    await inHash(page, 'cardsmooth=0.9|median|train/loss');
    await clean(page, 'smoothing form');
    await shot(page, 'card-smoothing');
    await page.keyboard.press('Escape');
    const chip = card(page, 'train/loss').getByRole('button', {
      name: 'median 0.9',
    });
    await chip.click();
    await form.getByRole('button', { name: 'Use the smoothing of all cards' }).click();
    await until('gone', async () => !(await hash(page)).includes('cardsmooth') && (await chip.count()) === 0);
  },

  async 'the envelope shows the least and the greatest of each pixel behind the smoothed line'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&tags=grad_norm'));
    const ink = (p) =>
      p
        .locator('.plot-clip canvas')
        .first()
        .evaluate((c) => c.toDataURL());
    const before = await ink(page);
    await page.getByRole('button', { name: 'View ▾' }).click();
    const asked = page.waitForResponse(
      (r) => r.url().endsWith('/scalars') && r.request().postData().includes('"flags"'),
    );
    await page.getByRole('checkbox', { name: /Min–max envelope/ }).check();
    await asked;
    await inHash(page, 'envelope=on');
    await until('drawn otherwise', async () => (await ink(page)) !== before);
    await page.keyboard.press('Escape');
    await shot(page, 'envelope');
    await card(page, 'train/grad_norm').hover();
    await card(page, 'train/grad_norm').getByRole('button', { name: 'More for this chart' }).click();
    const [svg] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Chart as SVG' }).click(),
    ]);
    await soon(async () => assert.equal(readFileSync(await svg.path(), 'utf8').match(/fill-opacity/g).length, 9));
  },

  async 'bands are of the mean or the median, and a click in one shows the runs it is made of'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&group=path&colour=group&bands=minmax'));
    await until('three lines', async () => (await plot(page, 'val/latency_ms').getAttribute('data-painted')) === '3');
    await page.getByRole('button', { name: /^Bands/ }).click();
    const asked = page.waitForRequest((r) => r.url().endsWith('/bands') && r.postData().includes('"median"'));
    await page.getByRole('menuitemcheckbox', { name: 'Centre: median' }).click();
    await asked;
    await inHash(page, 'center=median');
    await plot(page, 'val/latency_ms').hover({
      position: { x: 150, y: 60 },
    });
    await page.waitForSelector('.tip');
    await soon(async () =>
      assert.deepEqual(await page.locator('.tip th').allInnerTexts(), ['group', 'median', 'low', 'high', 'runs']),
    );
    await soon(async () => {
      const cells = await page.locator('.tip tbody tr').first().locator('td').allInnerTexts();
      assert.ok(Number(cells[3]) < Number(cells[4]), cells.join());
    });
    // the height of that band: ask the page where the nearest group's middle is
    const box = await plot(page, 'val/latency_ms').boundingBox();
    let hit = false;
    for (let y = 8; y < box.height - 24 && !hit; y += 4) {
      await page.mouse.click(box.x + 150, box.y + y);
      hit = await until('its runs, or a tooltip that stays', async () => {
        if ((await hash(page)).includes('members=')) return 'runs';
        return (await page.locator('.tip.pinned').count()) ? 'tooltip' : '';
      }).then((what) => what === 'runs');
      if (!hit) await page.keyboard.press('Escape');
    }
    assert.ok(hit, 'no click met a band');
    await until(
      'its three runs are drawn',
      async () => (await plot(page, 'val/latency_ms').getAttribute('data-painted')) === '6',
    );
    await shot(page, 'band-members');
    await soon(async () => assert.match(await hash(page), /members=[\w-]+/));
  },

  async 'bands are compared with a baseline: seeds against one run'(keep) {
    const server = await serve('fresh', (logdir) => {
      for (const [name, level] of [
        ['base/1', 2],
        ['new/1', 5],
        ['new/2', 7],
      ]) {
        const run = new RunWriter(logdir, name, 1700000000);
        for (let step = 0; step < 50; step++)
          run.scalars(step, {
            loss: level + step,
            ...(name === 'base/1' ? {} : { other: level }),
          });
        run.flush();
      }
    });
    const page = keep(
      await openCharts(server, '#timeseries&smooth=0&group=path&bands=minmax&base=base/1&compare=difference'),
    );
    let tries = 0;
    await until('centre and edges', async () => {
      // cards move while their data comes: the pointer is put on the chart again until its tooltip is there
      await plot(page, 'loss').hover({ position: { x: 180 + (tries++ % 2), y: 60 } });
      const cells = await page.locator('.tip tbody tr', { hasText: 'new' }).locator('td').allInnerTexts();
      return cells.slice(2, 5).join() === '4,3,5' && cells;
    });
    await until('what y is', async () => /Difference from base\/1/i.test(await card(page, 'loss').innerText()));
    await until('who has none', async () =>
      /^2 runs in one group\s+2 without the baseline’s tag/.test(
        await card(page, 'other').locator('footer').innerText(),
      ),
    );
    await shot(page, 'baseline-bands');
  },

  async 'runs are compared with a baseline: difference or ratio, and who has none of its tag is told'(keep) {
    const server = await serve('fresh', (logdir) => {
      for (const [name, level] of [
        ['a', 2],
        ['b', 3],
        ['c', 4],
      ]) {
        const run = new RunWriter(logdir, name, 1700000000);
        for (let step = 0; step < 50; step++)
          run.scalars(step, {
            [name === 'c' ? 'other' : 'loss']: level * (step + 1),
            both: level,
          });
        run.flush();
      }
    });
    const page = keep(await openCharts(server, '#timeseries&smooth=0'));
    await page.getByRole('button', { name: /^Baseline/ }).click();
    await page.getByRole('menuitemcheckbox', { name: 'a', exact: true }).click();
    await inHash(page, 'base=a');
    const at = async (tag, row) => {
      await page.mouse.move(5, 500);
      await plot(page, tag).hover({ position: { x: 180, y: 60 } });
      await page.waitForSelector('.tip');
      const cells = await page.locator('.tip tbody tr', { hasText: row }).locator('td').allInnerTexts();
      const step = /step ([\d\u2009]+)/.exec(await page.locator('.tip p').first().innerText())?.[1];
      return [Number(cells[2].replace('−', '-')), Number(step)];
    };
    await until('the difference', async () => {
      const [value, step] = await at('loss', 'b');
      return value === step + 1;
    });
    await until('itself is nothing', async () => (await at('loss', 'a'))[0] === 0);
    await shot(page, 'baseline-difference');
    await page.getByRole('button', { name: /^Baseline/ }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Show the ratio' }).click();
    await inHash(page, 'compare=ratio');
    await until('the ratio', async () => (await at('both', 'c'))[0] === 2);
    await until('who has none', async () =>
      /1 without the baseline’s tag/.test(await card(page, 'other').locator('footer').innerText()),
    );
    await card(page, 'loss').hover();
    await card(page, 'loss').getByRole('button', { name: 'More for this chart' }).click();
    const [svg] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Chart as SVG' }).click(),
    ]);
    await soon(async () => assert.match(readFileSync(await svg.path(), 'utf8'), /ratio to a/));
    await page.getByRole('button', { name: /^Baseline/ }).click();
    await page.getByRole('menuitemcheckbox', { name: 'No baseline' }).click();
    await until('values again', async () => (await at('both', 'c'))[0] === 4);
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
    await clean(page, 'combine form');
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

  async 'a restarted run is shown as attempts, and steps that go back as parts'(keep) {
    const server = await serve('fresh', (logdir) => {
      const write = (name, start, from, to, level) => {
        const run = new RunWriter(logdir, name, start);
        for (let step = from; step < to; step++) run.scalars(step, { loss: level + step / 100 }, start + step);
        return run.flush();
      };
      write('again', 1700000000, 0, 100, 1);
      write('again', 1700001000, 60, 150, 2);
      write('again', 1700002000, 90, 200, 3);
      const back = write('back', 1700000000, 0, 50, 5);
      for (let step = 20; step < 80; step++) back.scalars(step, { loss: 6 }, 1700000100 + step);
      back.flush();
    });
    const page = keep(await openCharts(server, '#timeseries&smooth=0'));
    await until('two lines', async () => (await plot(page, 'loss').getAttribute('data-painted')) === '2');
    const rows = async (x) => {
      await page.mouse.move(5, 600);
      await plot(page, 'loss').hover({ position: { x, y: 60 } });
      await page.waitForSelector('.tip');
      return (await page.locator('.tip tbody tr:not(.outside) .name').allInnerTexts()).sort();
    };
    await page.getByRole('button', { name: 'View ▾' }).click();
    await page.getByRole('checkbox', { name: /earlier attempts/ }).check();
    await inHash(page, 'attempts=on');
    await page.keyboard.press('Escape');
    await until(
      'three attempts and two parts',
      async () => (await plot(page, 'loss').getAttribute('data-painted')) === '5',
    );
    const box = await plot(page, 'loss').boundingBox();
    const at = (step) => 46 + ((box.width - 56) * (step + 3)) / 205;
    await soon(async () => assert.deepEqual(await rows(at(95)), ['again #1', 'again #2', 'again #3']));
    await soon(async () => assert.deepEqual(await rows(at(30)), ['again #1', 'back #1', 'back #2']));
    await shot(page, 'attempts');
    await soon(async () =>
      assert.match(await card(page, 'loss').locator('footer').innerText(), /2 runs · 410 of 410 points/),
    );
    await page.getByRole('button', { name: 'View ▾' }).click();
    await page.getByRole('checkbox', { name: /earlier attempts/ }).uncheck();
    await page.getByRole('checkbox', { name: /steps go back/ }).check();
    await inHash(page, 'partition=on');
    await until(
      'parts of what is visible',
      async () => (await plot(page, 'loss').getAttribute('data-painted')) === '3',
    );
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
    await clean(page, 'description');
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
    await clean(page, 'download links');
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
    await page.evaluate(() => localStorage.setItem('seaboard.settings', JSON.stringify({ pageSize: 2 })));
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
    await clean(page, 'pages');
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

  async 'one point is a dot, NaN a cross at the last height, infinities at the edge they left by'(keep) {
    const server = await serve('fresh', (logdir) => {
      const run = new RunWriter(logdir, 'r', 1700000000).scalars(0, {
        once: 3,
      });
      [1, 2, NaN, 3, Infinity, 4, -Infinity, 5].forEach((v, step) => run.scalars(step, { odd: v }));
      run.flush();
    });
    const page = keep(await openCharts(server, '#timeseries&smooth=0&wide=odd'));
    const svgOf = async (tag) => {
      await card(page, tag).hover();
      await card(page, tag).getByRole('button', { name: 'More for this chart' }).click();
      const [svg] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: 'Chart as SVG' }).click(),
      ]);
      return readFileSync(await svg.path(), 'utf8');
    };
    await shot(page, 'marks');
    await soon(async () => assert.match(await svgOf('once'), /<circle /));
    await soon(async () => {
      const odd = await svgOf('odd');
      // a cross begins 4 pixels above its middle, a triangle at its tip
      const marks = [...odd.matchAll(/<path d="M([-\d.]+) ([-\d.]+)l[^"]*"[^>]*data-mark="(\w+)"/g)].map((m) => ({
        y: Number(m[2]),
        kind: m[3],
      }));
      assert.equal(odd.match(/<circle /g)?.length, 3, 'points between gaps are dots');
      assert.deepEqual(
        marks.map(({ kind }) => kind),
        ['nan', 'plus', 'minus'],
      );
      const [nan, plus, minus] = marks.map(({ y }) => y);
      assert.ok(plus < nan && nan < minus, JSON.stringify(marks));
    });
    await soon(async () => assert.match(await card(page, 'odd').locator('footer').innerText(), /1 NaN\s+1 \+∞\s+1 −∞/));
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

  async 'alt-drag moves the picture, the wheel with Ctrl zooms around the pointer'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&zoom=1000~2000||train/loss'));
    const zoom = async () =>
      /zoom=([-\d.e]+)~([-\d.e]+)\|/
        .exec(await hash(page))
        .slice(1)
        .map(Number);
    const box = await plot(page, 'train/loss').boundingBox();
    await page.keyboard.down('Alt');
    await page.mouse.move(box.x + 200, box.y + 80);
    await page.mouse.down();
    await page.mouse.move(box.x + 150, box.y + 80, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up('Alt');
    const [from, to] = await until('moved right', async () => {
      const now = await zoom();
      return now[0] > 1000 && now;
    });
    assert.ok(Math.abs(to - from - 1000) < 1, `${from} ${to}`);
    await page.mouse.move(box.x + 200, box.y + 80);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -200);
    await page.keyboard.up('Control');
    await until('closer', async () => {
      const [a, b] = await zoom();
      return b - a < to - from - 1 && a > from && b < to;
    });
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

  async 'attempts of a long run keep their own extremes when decimated'() {
    const value = (attempt, step) => attempt * 10 + Math.sin(step / 50) + (step === 4321 ? 5 : 0);
    const spans = [
      [0, 6000],
      [3000, 7000],
      [5000, 9000],
    ];
    const server = await serve('fresh', (logdir) => {
      spans.forEach(([from, to], attempt) => {
        const run = new RunWriter(logdir, 'long', 1700000000 + attempt * 100000);
        for (let step = from; step < to; step++) run.scalars(step, { loss: value(attempt, step) });
        run.flush();
      });
    });
    const runs = await until('all is read', async () => {
      const now = (await (await fetch(`${server.url}api/v1/runs`)).json()).runs;
      return now[0]?.points >= 14000 && now;
    });
    const reply = await fetch(`${server.url}api/v1/scalars`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Seaboard-Request': '1',
      },
      body: JSON.stringify({
        x: 'step',
        width: 200,
        superseded: true,
        smoothing: { kind: 'none' },
        columns: ['step', 'value', 'flags'],
        series: [{ run: runs[0].id, tag: 'loss' }],
      }),
    });
    const body = await reply.arrayBuffer();
    const head = new DataView(body);
    const n = head.getUint32(16 + 24, true);
    const column = (at) => new Float64Array(body, head.getUint32(16 + at, true) * 8, n);
    const [step, loss] = [column(32), column(40)];
    const flags = new Uint8Array(body, head.getUint32(16 + 48, true) * 8, n);
    assert.ok(n < 14000 / 4, `${n} points are as many as a picture needs`);
    const starts = [0];
    for (let i = 1; i < n; i++) if (step[i] < step[i - 1]) starts.push(i);
    assert.equal(starts.length, 3);
    starts.forEach((from, attempt) => {
      const to = starts[attempt + 1] ?? n;
      const [first, past] = spans[attempt];
      const cut = spans[attempt + 1]?.[0] ?? Infinity;
      assert.deepEqual([step[from], step[to - 1]], [first, past - 1], `ends of attempt ${attempt}`);
      const seen = loss.subarray(from, to);
      const all = Array.from({ length: past - first }, (_, i) => Math.fround(value(attempt, first + i)));
      assert.equal(Math.max(...seen), Math.max(...all));
      assert.equal(Math.min(...seen), Math.min(...all));
      for (let i = from; i < to; i++)
        assert.equal(flags[i] & 1, step[i] >= cut ? 1 : 0, `point ${step[i]} of attempt ${attempt}`);
    });
  },

  async 'a log x axis has the first steps of a long run, each at its place'(keep) {
    const server = await serve('fresh', (logdir) => {
      const run = new RunWriter(logdir, 'r', 1700000000);
      for (let step = 0; step < 20000; step++) run.scalars(step, { loss: 1 / (step + 1) });
      run.flush();
    });
    const page = keep(await openCharts(server, '#timeseries&smooth=0&xscale=log&logy=loss'));
    await until('all points', async () =>
      /of 20\u2009000|of 20 k|of 20\u2009k/.test(await card(page, 'loss').locator('footer').innerText()),
    );
    const box = await plot(page, 'loss').boundingBox();
    for (const step of [2, 3, 5, 9, 17]) {
      await page.mouse.move(5, 600);
      await plot(page, 'loss').hover({
        position: {
          x: 46 + (box.width - 56) * (Math.log10(step) / Math.log10(20000)),
          y: 80,
        },
      });
      await page.waitForSelector('.tip');
      const seen = async () => Number(/step (\d+)/.exec(await page.locator('.tip p').first().innerText())?.[1]);
      await soon(async () => assert.ok([step - 1, step, step + 1].includes(await seen()), `step ${step}`));
    }
    await shot(page, 'log-x');
  },
};
