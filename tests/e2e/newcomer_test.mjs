// The first page as somebody finds it who has never seen it: what it says must be true without a second look.
import assert from 'node:assert/strict';
import { card, CHART, loaded, open, openCharts, serve, soon, svgOf, until } from './harness.mjs';
import { random, RunWriter } from './logs.mjs';

const DAY = 86400;
const plot = (page, tag) => card(page, tag).locator('.plot');
const ticksOf = (svg) =>
  [...svg.matchAll(/text-anchor="end">([^<]+)</g)].map(([, text]) =>
    Number(text.replace('−', '-').replace(/[^\d.e-]/g, '')),
  );
const legendOf = (svg) => [...svg.matchAll(/<text x="70"[^>]*>([^<]+)</g)].map(([, text]) => text);

/** Four settings with three seeds each, with folders for training and validation. */
function writeSeeds(logdir) {
  let n = 0;
  for (const opt of ['adam', 'sgd'])
    for (const learning_rate of [0.001, 0.01])
      for (const seed of [1, 2, 3])
        for (const role of ['train', 'validation']) {
          const next = random(++n);
          const start = Date.now() / 1000 - DAY;
          const run = new RunWriter(logdir, `${opt}-lr${learning_rate}-seed${seed}/${role}`, start);
          run.hparams({ opt, learning_rate, seed });
          const level = role === 'train' ? 1 : 4;
          for (let step = 0; step < 100; step++)
            run.scalars(step, {
              loss: level + next() * 0.1,
              accuracy: 0.5 + learning_rate,
            });
          run.flush();
        }
}

async function fresh(write, hash = '', options = {}) {
  const server = await serve('fresh');
  write(server.logdir);
  await until('all runs read', async () => {
    const status = await loaded(server);
    return status.loading.runs > 0 && status.loading.bytesDone === status.loading.bytes && status.loading.bytes > 0;
  });
  return openCharts(server, hash, options);
}

export default {
  async 'a wide band keeps its mean in sight'(keep) {
    const page = keep(
      await fresh((logdir) => {
        // most runs are near 5; a few are far off, so that the spread goes far beyond the mean
        for (let r = 0; r < 40; r++) {
          const run = new RunWriter(logdir, `all/r${r}`, Date.now() / 1000 - DAY);
          for (let step = 0; step < 60; step++) run.scalars(step, { loss: r === 0 ? 30 + step : 5 });
          run.flush();
        }
      }, '#timeseries&group=path&colour=group&bands=std'),
    );
    await soon(async () =>
      assert.match(await card(page, 'loss').locator('footer').innerText(), /40 runs in one group/),
    );
    const ticks = ticksOf(await svgOf(page, 'loss'));
    assert.ok(Math.min(...ticks) < 5.6 && Math.max(...ticks) > 6.4, `the mean goes from 5.6 to 7.1: ${ticks}`);
  },

  async 'a band never mixes training and validation, by whatever runs are grouped'(keep) {
    const page = keep(await fresh(writeSeeds, '#timeseries&group=hparam:learning_rate&colour=group&bands=minmax'));
    await soon(async () => {
      const groups = await page.locator('[data-group]').evaluateAll((rows) => rows.map((row) => row.dataset.group));
      assert.deepEqual(groups, ['0.001 · train', '0.001 · validation', '0.01 · train', '0.01 · validation']);
    });
    await soon(async () => assert.match(await card(page, 'loss').locator('footer').innerText(), /24 runs in 4 groups/));
    await plot(page, 'loss').hover({ position: { x: 150, y: 60 } });
    await soon(async () => {
      const rows = await page
        .locator('.tip tbody tr')
        .evaluateAll((all) => all.map((row) => row.innerText.split('\t')));
      const validation = rows.filter(([, name]) => name.includes('validation'));
      assert.equal(validation.length, 2);
      for (const [, , , low] of validation) assert.ok(Number(low) >= 4, `${low} is a value of training`);
    });
  },

  async 'seeds are found, and it is said by what; several hyperparameters make groups'(keep) {
    const page = keep(await fresh(writeSeeds));
    await page.getByRole('button', { name: /^Group/ }).click();
    await page
      .getByRole('menuitemcheckbox', { name: /seeds together/ })
      .or(page.getByRole('menuitem', { name: /seeds together/ }))
      .first()
      .click();
    await soon(async () =>
      assert.match(
        await page.locator('.found').innerText(),
        /4 settings with up to 3 seeds, by the hyperparameter “seed”/,
      ),
    );
    await soon(async () => assert.equal(await page.locator('[data-group]').count(), 8));
    await page.getByRole('button', { name: /^Group/ }).click();
    await page.getByText('By several hyperparameters…').click();
    for (const name of ['learning_rate', 'opt'])
      await page.getByRole('checkbox', { name: new RegExp(`^${name}`) }).check();
    await page.getByRole('button', { name: 'Apply' }).click();
    await soon(async () => {
      const groups = await page.locator('[data-group]').evaluateAll((rows) => rows.map((row) => row.dataset.group));
      assert.ok(groups.includes('learning_rate=0.001, opt=adam · train'), groups.join('; '));
      assert.equal(groups.length, 8);
    });
  },

  async 'a log of five epochs is drawn as it was logged, whole, and the card says so'(keep) {
    const page = keep(
      await fresh((logdir) => {
        const run = new RunWriter(logdir, 'keras', Date.now() / 1000 - DAY);
        [2, 1.2, 0.6, 0.4, 5].forEach((loss, epoch) => run.scalars(epoch, { epoch_loss: loss }));
        run.flush();
      }),
    );
    const chart = card(page, 'epoch_loss');
    await soon(async () => assert.match(await chart.locator('header').innerText(), /few points, not smoothed/));
    const ticks = ticksOf(await svgOf(page, 'epoch_loss'));
    assert.ok(Math.max(...ticks) >= 4 && Math.min(...ticks) <= 1, `0.4 to 5: ${ticks}`);
    await plot(page, 'epoch_loss').hover({ position: { x: 300, y: 20 } });
    await soon(async () => assert.equal(await page.locator('.tip th', { hasText: 'smoothed' }).count(), 0));
    // a smoothing that somebody chose holds for short logs, too; the raw line stays in the picture
    await page.getByRole('spinbutton', { name: /Smoothing/ }).fill('0.9');
    await page.keyboard.press('Enter');
    await soon(async () => assert.doesNotMatch(await chart.locator('header').innerText(), /few points/));
    assert.ok(Math.max(...ticksOf(await svgOf(page, 'epoch_loss'))) >= 4);
  },

  async 'the run filter completes names, knows metrics, and tells unknown ones with those near them'(keep) {
    const page = keep(await fresh(writeSeeds));
    const field = page.locator('#run-filter');
    await soon(async () => assert.match(await field.getAttribute('placeholder'), /learning_rate>0.001/));
    await field.click();
    await field.pressSequentially('lea');
    await page.getByRole('option', { name: /learning_rate/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await soon(async () => assert.equal(await field.inputValue(), 'learning_rate'));
    await field.pressSequentially('>0.001 and not opt=sgd');
    await soon(async () => assert.equal(await page.locator('[data-run]').count(), 6));
    await field.fill('min(loss)<2 and (opt=sgd or accuracy>0.505)');
    await soon(async () => assert.equal(await page.locator('[data-run]').count(), 9));
    await field.fill('lr>0.01');
    await soon(async () => assert.match(await page.locator('.list [role=status]').innerText(), /“lr”.*learning_rate/));
    await soon(async () => assert.match(await page.locator('.table .none').innerText(), /learning_rate/));
  },

  async 'tables of a range have a mean and say whether they are of the smoothed line'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&tags=^train/loss$&smooth=0.6&select=range'));
    const heads = () => page.locator('.below [role=columnheader]').allInnerTexts();
    await soon(async () => {
      const all = (await heads()).map((text) => text.trim());
      assert.ok(
        all.some((text) => /^Min, smoothed/.test(text)),
        all.join('; '),
      );
      assert.ok(
        all.some((text) => /^Mean, smoothed/.test(text)),
        all.join('; '),
      );
    });
  },

  async 'at full size bands are counted as groups and have their edges in the table; combined cards have bands'(keep) {
    const page = keep(
      await fresh(writeSeeds, '#timeseries&group=hparam:opt&colour=group&bands=minmax&combine=loss%1Faccuracy'),
    );
    const both = page.locator('.slot .card').filter({ hasText: '24 runs in 4 groups' });
    await both.first().waitFor();
    await both.first().hover();
    await both.first().locator('[aria-haspopup=menu]').click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: /SVG/ }).click(),
    ]);
    let svg = '';
    for await (const part of await download.createReadStream()) svg += part;
    assert.equal(legendOf(svg).length, 8, legendOf(svg).join('; '));
    await page.keyboard.press('f');
    await soon(async () => assert.match(await page.locator('dialog .line').innerText(), /24 runs in 4 groups/));
    await soon(async () => {
      const heads = await page.locator('dialog [role=columnheader]').allInnerTexts();
      assert.ok(heads.some((text) => /Low/.test(text)) && heads.some((text) => /High/.test(text)), heads.join('; '));
    });
  },

  async 'the form of an axis holds only what somebody typed'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&tags=^train/loss$&xscale=log'));
    const axis = (name) => card(page, 'train/loss').getByRole('button', { name });
    await axis(/^Horizontal axis/).click();
    await soon(async () => assert.equal(await page.getByLabel('from').inputValue(), ''));
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await soon(async () => assert.equal(await page.getByRole('alert').count(), 0));
    await axis(/^Vertical axis/).click();
    await page.getByRole('button', { name: 'Set', exact: true }).click();
    await soon(async () => assert.equal(await page.getByLabel('from').count(), 0));
    assert.ok(!(await page.evaluate(() => location.hash)).includes('zoom='));
  },

  async 'a tooltip that rests has each run’s true point at one step, in the order of the lines'(keep) {
    const page = keep(
      await fresh((logdir) => {
        for (let r = 0; r < 3; r++) {
          const run = new RunWriter(logdir, `run${r}`, Date.now() / 1000 - DAY);
          const next = random(r + 1);
          for (let step = 0; step < 6000; step++) run.scalars(step, { loss: r + next() * 0.5 });
          run.flush();
        }
      }, '#timeseries&smooth=0'),
    );
    await plot(page, 'loss').hover({ position: { x: 170, y: 90 } });
    await soon(async () => {
      const head = await page.locator('.tip p').first().innerText();
      const rows = await page
        .locator('.tip tbody tr')
        .evaluateAll((all) => all.map((row) => row.innerText.trim().split(/\s*\t\s*/)));
      assert.deepEqual(
        rows.map(([name]) => name),
        ['run2', 'run1', 'run0'],
      );
      assert.ok(
        rows.every((cells) => cells.length === 2),
        `all at one step, which the head says: ${head}: ${rows.join('; ')}`,
      );
    });
  },

  async 'a tab that is still to come says what is logged for it'(keep) {
    const server = await serve('fresh');
    const run = new RunWriter(server.logdir, 'a', Date.now() / 1000 - DAY);
    run.scalars(0, { loss: 1 }).hparams({ lr: 1 }).flush();
    const page = keep(await open(server, ''));
    await page.waitForSelector(CHART);
    await page.getByRole('button', { name: 'More', exact: false }).first().click();
    await page.getByRole('menuitem', { name: /HParams/ }).click();
    await soon(async () => assert.match(await page.locator('main').innerText(), /_hparams_/));
  },
};
