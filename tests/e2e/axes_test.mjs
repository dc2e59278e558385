// What axes can be: relative steps and another metric of the same run as x, a zoom of x that all cards share, a zoom of
// y alone, percent.
import assert from 'node:assert/strict';
import { axe, card, CHART, openCharts, sharedServer, shot, soon, until } from './harness.mjs';
import { random, RunWriter } from './logs.mjs';

const LOSS = '#timeseries&tags=^loss$&smooth=0';
const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));
const inAddress = (page, pattern) => until(`${pattern} in the address`, async () => pattern.test(await hash(page)));
const tip = (page) => page.locator('.tip');
const plot = (page, tag) => card(page, tag).locator('.plot');
const painted = (page, tag, lines) =>
  until(`${lines} lines`, async () => (await plot(page, tag).getAttribute('data-painted')) === String(lines));

/** Two seeds with epochs, the second begun at step 500, and a learning rate that rises and falls; a third run without. */
const trained = sharedServer((logdir) => {
  const next = random(4);
  const start = Date.now() / 1000 - 9000;
  for (const [name, from] of [
    ['seed/1', 0],
    ['seed/2', 500],
  ]) {
    const run = new RunWriter(logdir, name, start);
    for (let i = 0; i <= 1000; i++) {
      const values = {
        loss: 2 / (1 + i / 100) + next() / 50,
        accuracy: i / 1250,
      };
      if (i % 100 === 0)
        Object.assign(values, {
          'train/epoch': i / 100,
          lr: i <= 500 ? i / 500 : 2 - i / 500,
        });
      run.scalars(from + i, values);
    }
    run.flush();
  }
  const bare = new RunWriter(logdir, 'bare', start);
  for (let i = 0; i <= 100; i++) bare.scalars(i, { loss: 1 });
  bare.flush();
});
async function chooseX(page, query, name) {
  await page.getByRole('radio', { name: 'Metric…' }).click();
  const form = page.getByRole('dialog', { name: 'Use another metric as x' });
  await form.getByRole('combobox').fill(query);
  await form.getByRole('option', { name, exact: true }).waitFor();
  return form;
}
async function drag(page, tag, from, to) {
  await pointAt(page, tag, ...from);
  await page.mouse.down();
  await pointAt(page, tag, (from[0] + to[0]) / 2, to[1]);
  await pointAt(page, tag, ...to);
  await page.mouse.up();
}
/** Points at a share of a chart's width and height. */
async function pointAt(page, tag, x, y) {
  const box = await plot(page, tag).boundingBox();
  await page.mouse.move(box.x + 46 + (box.width - 56) * x, box.y + 6 + (box.height - 41) * y, { steps: 2 });
}

export default {
  async 'another metric is chosen as x by a few letters, with likely ones first; the address has it and the axis says it'(
    keep,
  ) {
    const page = keep(await openCharts(await trained(), LOSS));
    await page.getByRole('radio', { name: 'Metric…' }).click();
    const form = page.getByRole('dialog', { name: 'Use another metric as x' });
    await soon(async () =>
      assert.deepEqual(
        (await form.getByRole('option').allInnerTexts()).map((s) => s.trim()),
        ['Relative step', 'train/epoch', 'accuracy', 'loss', 'lr'],
      ),
    );
    await axe(page, 'the list of metrics', '[popover]');
    await form.getByRole('combobox').fill('epo');
    await page.keyboard.press('Enter');
    await inAddress(page, /x=tag:train\/epoch/);
    await until('the runs without it', async () => /1 without train\/epoch/.test(await card(page, 'loss').innerText()));
    await soon(async () =>
      assert.equal(await page.getByRole('radio', { name: 'train/epoch' }).getAttribute('aria-checked'), 'true'),
    );
    await pointAt(page, 'loss', 0.5, 0.8);
    await until('an epoch in the tooltip', async () => /^train\/epoch [45]\.\d/.test(await tip(page).innerText()));
    await shot(page, 'axis-metric');
    await soon(async () => assert.match(await hash(page), /x=tag:train\/epoch/));
    await page.reload();
    await page.waitForSelector(CHART);
    await painted(page, 'loss', 3);
    await soon(async () => assert.match(await hash(page), /x=tag:train\/epoch/));
    await page.getByRole('radio', { name: 'Wall' }).click();
    await inAddress(page, /x=wall/);
  },

  async 'along a metric that rises and falls the nearest point is near in both directions'(keep) {
    const page = keep(await openCharts(await trained(), `${LOSS}&x=tag:lr&only=seed/1`));
    await painted(page, 'loss', 1);
    const stepAt = async (y) => {
      await pointAt(page, 'loss', 0.5, y);
      return until(
        'a step',
        async () => Number((await tip(page).locator('tbody td').allInnerTexts())[3]?.replace(/\D/g, '')) || 0,
      );
    };
    await until('the way up', async () => (await stepAt(0.6)) < 500);
    await until('the way down', async () => (await stepAt(0.97)) > 500);
    await soon(async () => assert.match(await tip(page).locator('p').first().innerText(), /^lr 0\.[45]/));
    await shot(page, 'axis-metric-falls');
  },

  async 'relative steps begin at each run’s first step'(keep) {
    const page = keep(await openCharts(await trained(), `${LOSS}&only=seed/1,seed/2`));
    const form = await chooseX(page, 'relative', 'Relative step');
    await form.getByRole('option', { name: 'Relative step' }).click();
    await inAddress(page, /x=step_relative/);
    await pointAt(page, 'loss', 0.5, 0.5);
    await until('both runs', async () => (await tip(page).locator('tbody tr').count()) === 2);
    await soon(async () => {
      const at = Number(/^step \+(\d+)/.exec(await tip(page).innerText())?.[1]);
      const steps = (await tip(page).locator('tbody tr').allInnerTexts())
        .map((row) => Number(row.split('\t')[3].replace(/\D/g, '')))
        .sort((a, b) => a - b);
      assert.deepEqual(steps, [at, at + 500]);
    });
    await shot(page, 'axis-relative-step');
  },

  async 'a zoom goes when x changes'(keep) {
    const page = keep(await openCharts(await trained(), `${LOSS}&zoom=100~300||loss`));
    await soon(async () => assert.match(await hash(page), /zoom=/));
    await chooseX(page, 'epoch', 'train/epoch');
    await page.keyboard.press('Enter');
    await inAddress(page, /x=tag/);
    await soon(async () => assert.doesNotMatch(await hash(page), /zoom=/));
  },

  async 'steps are not selected along a metric, and the page says why'(keep) {
    const page = keep(await openCharts(await trained(), `${LOSS}&x=tag:train/epoch&select=step`));
    await soon(async () => assert.equal(await page.getByRole('slider', { name: /place/ }).count(), 0));
    await page.keyboard.press('x');
    await page.getByText('Steps can’t be selected with train/epoch as x').first().waitFor();
    await page.getByRole('button', { name: 'View ▾' }).click();
    const panel = page.getByRole('dialog', { name: 'View' });
    await soon(async () => assert.ok(await panel.getByLabel('Step selection and data table').isDisabled()));
    await panel.getByText('Steps can’t be selected with train/epoch as x').waitFor();
  },

  async 'bands are drawn along a metric that rises, and one that falls is said to have none'(keep) {
    const page = keep(
      await openCharts(await trained(), `${LOSS}&x=tag:train/epoch&group=path&bands=std`, { allowErrors: true }),
    );
    await painted(page, 'loss', 2);
    await shot(page, 'axis-metric-bands');
    await page.getByRole('radio', { name: 'train/epoch' }).click();
    await page.getByRole('combobox', { name: 'Find a metric' }).fill('lr');
    await page.keyboard.press('Enter');
    await card(page, 'loss').getByText('No bands with lr as x: its values do not always rise.').waitFor();
  },

  async 'linked, a zoom of x is that of all cards, and the address keeps one range'(keep) {
    const page = keep(
      await openCharts(await trained(), '#timeseries&tags=^(loss|accuracy)$&smooth=0&only=seed/1&row=2'),
    );
    await painted(page, 'accuracy', 1);
    await page.getByRole('button', { name: 'View ▾' }).click();
    await page.getByRole('dialog', { name: 'View' }).getByLabel('Link the x zoom of all cards').click();
    await page.keyboard.press('Escape');
    await inAddress(page, /zoomall=on/);
    const ranged = (tag) =>
      page.waitForRequest(
        (r) =>
          r.url().endsWith('/scalars') && r.postData().includes(`"tag":"${tag}"`) && r.postData().includes('"range":['),
      );
    const both = Promise.all([ranged('loss'), ranged('accuracy')]);
    await drag(page, 'loss', [0.2, 0.5], [0.6, 0.5]);
    await both;
    await inAddress(page, /zoomall=[\d.]+~[\d.]+/);
    await soon(async () => assert.doesNotMatch(await hash(page), /zoom=/));
    await shot(page, 'zoom-linked');
    await card(page, 'accuracy').getByRole('button', { name: 'Reset zoom' }).click();
    await inAddress(page, /zoomall=on/);
    await soon(async () =>
      assert.equal(await card(page, 'loss').getByRole('button', { name: 'Reset zoom' }).count(), 0),
    );
  },

  async 'a drag along the y axis zooms y alone, one along x then keeps it, and a click there opens its form'(keep) {
    const page = keep(await openCharts(await trained(), `${LOSS}&only=seed/1`));
    await painted(page, 'loss', 1);
    const strip = card(page, 'loss').getByRole('button', {
      name: 'Vertical axis: range and scale',
    });
    const box = await strip.boundingBox();
    await page.mouse.move(box.x + 20, box.y + box.height * 0.5);
    await page.mouse.down();
    await page.mouse.move(box.x + 20, box.y + box.height * 0.7, {
      steps: 3,
    });
    await shot(page, 'zoom-y');
    await page.mouse.move(box.x + 20, box.y + box.height * 0.9);
    await page.mouse.up();
    await inAddress(page, /zoom=\|[-\d.]+~[\d.]+\|loss/);
    await soon(async () => assert.equal(await page.getByRole('dialog').count(), 0));
    await drag(page, 'loss', [0.2, 0.5], [0.6, 0.5]);
    await inAddress(page, /zoom=[\d.]+~[\d.]+\|[-\d.]+~[\d.]+\|loss/);
    await strip.click();
    await page.getByRole('dialog', { name: 'Vertical axis: range and scale' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByText('Drag along the y axis').waitFor();
  },

  async 'values are shown as percent on the axis, in the tooltip and in the table, where a card says so'(keep) {
    const page = keep(
      await openCharts(await trained(), '#timeseries&tags=^accuracy$&smooth=0&only=seed/1&select=step'),
    );
    await painted(page, 'accuracy', 1);
    await card(page, 'accuracy').getByRole('button', { name: 'Vertical axis: range and scale' }).click();
    const form = page.getByRole('dialog', {
      name: 'Vertical axis: range and scale',
    });
    await form.getByLabel('As percent').click();
    await inAddress(page, /percent=accuracy/);
    await axe(page, 'the form of an axis', '[popover]');
    await shot(page, 'percent-form');
    await form.getByLabel('from').fill('20 %');
    await form.getByLabel('to').fill('60');
    await page.keyboard.press('Enter');
    await inAddress(page, /zoom=\|0\.2~0\.6\|accuracy/);
    await until('percent in the table', async () =>
      /80\.00\s?%/.test(await card(page, 'accuracy').locator('[data-column=value]').first().innerText()),
    );
    await pointAt(page, 'accuracy', 0.5, 0.5);
    await until('percent in the tooltip', async () => /[34]\d(\.\d+)?\s?%/.test(await tip(page).innerText()));
    await shot(page, 'percent');
  },

  async 'the axis of a metric in Chinese and in the dark'(keep) {
    const page = keep(
      await openCharts(await trained(), `${LOSS}&x=tag:lr`, {
        locale: 'zh-CN',
        colorScheme: 'dark',
      }),
    );
    await page.getByRole('radio', { name: 'lr' }).click();
    await page.getByRole('dialog', { name: '以其他指标为横轴' }).waitFor();
    await shot(page, 'axis-metric-zh');
    await axe(page, 'the page with the list open');
  },
};
