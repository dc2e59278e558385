// Selecting a step or a range: handles on the axis, linked cards, the table under the chart and its columns.
import assert from 'node:assert/strict';
import { address, axe, card, openCharts, serve, sharedServer, shot, soon, until } from './harness.mjs';
import { random, RunWriter } from './logs.mjs';

const ONE = '#timeseries&tags=^train/loss$';
const fob = (page, tag, i = 0) => card(page, tag).getByRole('slider').nth(i);
const fobs = (page, tag) => card(page, tag).getByRole('slider');
const strip = (page, tag) => card(page, tag).locator('.strip');
const place = async (page, tag, i = 0) => Number(await fob(page, tag, i).getAttribute('aria-valuenow'));
const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));
const inAddress = (page, pattern) => until(`${pattern} in the address`, async () => pattern.test(await hash(page)));
const exact = (page, tag) => card(page, tag).locator('.table[data-exact=true]').waitFor();
const cells = (page, tag, column) => card(page, tag).locator(`[data-column="${column}"]`).allInnerTexts();
const heads = async (page, tag) =>
  (await card(page, tag).getByRole('columnheader').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
const runOf = (page, tag) => card(page, tag).locator('[role=cell].name').allInnerTexts();
const plain = (text) => Number(text.replace(/[\u2009 ]/g, '').replace('−', '-'));

/** Clicks on the strip, at a share of its width. */
async function click(page, tag, share) {
  const box = await strip(page, tag).boundingBox();
  await page.mouse.move(box.x + box.width * share, box.y + 8);
  await page.mouse.down();
  await page.mouse.up();
}
async function drag(page, tag, i, by) {
  const box = await fob(page, tag, i).boundingBox();
  await page.mouse.move(box.x + 10, box.y + 8);
  await page.mouse.down();
  await page.mouse.move(box.x + 10 + by / 2, box.y + 8, { steps: 3 });
  await page.mouse.move(box.x + 10 + by, box.y + 8);
  await page.mouse.up();
}
async function type(page, tag, i, text) {
  await fob(page, tag, i).click();
  // the field comes a moment after the click: keys that are pressed before it is there are lost
  const field = card(page, tag).getByRole('textbox');
  await field.fill(text);
  await field.press('Enter');
}
async function choose(page, name) {
  await page.getByRole('button', { name: 'View ▾' }).click();
  await page.getByRole('dialog', { name: 'View' }).getByLabel(name).click();
  await page.keyboard.press('Escape');
}
async function headMenu(page, tag, column, item) {
  await card(page, tag).getByRole('columnheader', { name: column }).click({ button: 'right' });
  await page.getByRole('menu').getByText(item, { exact: false }).click();
  if (/to the/.test(item)) await page.getByRole('dialog', { name: 'Insert a column' }).waitFor();
}

/** All points of a run as they were logged, as float32, in order of steps. */
async function logged(server, run, tag) {
  const text = await (
    await fetch(`${server.url}api/v1/export?format=json&run=${encodeURIComponent(run)}&tag=${encodeURIComponent(tag)}`)
  ).json();
  return text.map((p) => ({
    step: p.step,
    value: typeof p.value === 'number' ? p.value : Number(p.value),
  }));
}
/** TensorBoard's average, debiased. */
function smoothed(points, weight) {
  let last = 0;
  let n = 0;
  return points.map(({ step, value }) => {
    last = last * weight + (1 - weight) * value;
    n++;
    return { step, value: last / (1 - weight ** n) };
  });
}
const titles = (page, tag, column) =>
  card(page, tag)
    .locator(`[data-column="${column}"]`)
    .evaluateAll((all) => all.map((cell) => cell.title));

/** One run of so many points that most of them are not drawn. */
const longRun = sharedServer((logdir) => {
  const next = random(3);
  const run = new RunWriter(logdir, 'long', Date.now() / 1000 - 90000);
  for (let step = 0; step < 60000; step++)
    run.scalars(step, {
      loss: step === 30001 ? -7 : 2 + Math.sin(step / 900) + next(),
    });
  run.flush();
});

export default {
  async 'the View menu turns step selection on, with a table whose space is kept, and the browser remembers'(keep) {
    const page = keep(await openCharts('demo', ONE));
    const before = await card(page, 'train/loss').boundingBox();
    await choose(page, 'Step selection and data table');
    await exact(page, 'train/loss');
    await soon(async () =>
      assert.deepEqual(await heads(page, 'train/loss'), ['Run', 'Smoothed', 'Value', 'Step', 'Relative']),
    );
    await soon(async () => assert.equal(await place(page, 'train/loss'), 4000));
    await soon(async () => {
      const after = await card(page, 'train/loss').boundingBox();
      assert.equal(after.y, before.y);
      assert.ok(after.height > before.height + 90);
    });
    await inAddress(page, /select=step/);
    await page.goto('about:blank');
    await page.goto((await serve('demo')).url);
    await page.waitForSelector('[role=slider]');
    await inAddress(page, /select=step/);
    await shot(page, 'select-step');
  },

  async 'a click below the axis drops a handle where a hover shows it'(keep) {
    const page = keep(await openCharts('demo', `${ONE}&select=step`));
    await exact(page, 'train/loss');
    const box = await strip(page, 'train/loss').boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + 8);
    const ghost = await page.locator('.ghost').innerText();
    await click(page, 'train/loss', 0.4);
    await until('the handle', async () => (await place(page, 'train/loss')) === plain(ghost));
    await soon(async () => assert.equal(await fobs(page, 'train/loss').count(), 1));
    await inAddress(page, new RegExp(`at=${plain(ghost)}\\|train/loss`));
    await exact(page, 'train/loss');
    await soon(async () => {
      const steps = await cells(page, 'train/loss', 'step');
      assert.ok(steps.length >= 3 && steps.every((text) => plain(text) === plain(ghost)), steps.join());
    });
  },

  async 'a handle is dragged from point to point'(keep) {
    const page = keep(await openCharts('demo', `${ONE}&select=step&at=2000|train/loss`));
    await drag(page, 'train/loss', 0, 120);
    await until('moved', async () => (await place(page, 'train/loss')) > 2300);
    await soon(async () => assert.equal((await place(page, 'train/loss')) % 4, 0));
    await soon(async () => assert.equal(await page.locator('.tip').count(), 0));
    await soon(async () => assert.ok(!/zoom=/.test(await hash(page))));
  },

  async 'Escape ends the drag of a handle and puts it back'(keep) {
    const page = keep(await openCharts('demo', `${ONE}&select=step&at=2000|train/loss`));
    const box = await fob(page, 'train/loss').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 120, box.y + box.height / 2, { steps: 4 });
    await until('moved', async () => (await place(page, 'train/loss')) > 2300);
    await page.keyboard.press('Escape');
    await soon(async () => assert.equal(await place(page, 'train/loss'), 2000));
    await page.mouse.move(box.x, box.y, { steps: 2 });
    await page.mouse.up();
    await soon(async () => assert.equal(await place(page, 'train/loss'), 2000));
  },

  async 'a step is typed on the handle, nonsense is not taken, Escape takes it back'(keep) {
    const page = keep(await openCharts('demo', `${ONE}&select=step`));
    await type(page, 'train/loss', 0, '1 200');
    await until('there', async () => (await place(page, 'train/loss')) === 1200);
    await fob(page, 'train/loss').click();
    await page.keyboard.type('soon');
    await page.keyboard.press('Enter');
    await soon(async () =>
      assert.equal(await card(page, 'train/loss').getByRole('textbox').getAttribute('aria-invalid'), 'true'),
    );
    await page.keyboard.press('Escape');
    await soon(async () => assert.equal(await place(page, 'train/loss'), 1200));
  },

  async 'a second handle makes a range of this card, removing one a place again, removing both leaves a hint'(keep) {
    const page = keep(await openCharts('demo', `${ONE}&select=step&at=1000|train/loss`));
    await click(page, 'train/loss', 0.75);
    await until('two', async () => (await fobs(page, 'train/loss').count()) === 2);
    await soon(async () =>
      assert.deepEqual(await heads(page, 'train/loss'), [
        'Run',
        'Min, smoothed',
        'Max, smoothed',
        'Mean, smoothed',
        'Start value, smoothed',
        'End value, smoothed',
        'Change',
        'Change %',
        'Start step',
        'End step',
      ]),
    );
    await exact(page, 'train/loss');
    await shot(page, 'select-range');
    await card(page, 'train/loss').getByRole('button', { name: 'Remove: Start of the range' }).click();
    await until('one', async () => (await fobs(page, 'train/loss').count()) === 1);
    await soon(async () => assert.ok((await place(page, 'train/loss')) > 2500));
    await card(page, 'train/loss').getByRole('button', { name: 'Remove: Selected position' }).click();
    await card(page, 'train/loss').getByText('No step is selected').waitFor();
    await inAddress(page, /at=none\|train\/loss/);
    await card(page, 'train/loss').getByRole('button', { name: 'Select a step' }).click();
    await until('back', async () => (await place(page, 'train/loss')) === 4000);
  },

  async 'range selection is for all cards, over all of the data at first'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&select=step'));
    await choose(page, 'Range selection');
    await until(
      'two handles on each',
      async () => (await fobs(page, 'train/loss').count()) === 2 && (await fobs(page, 'train/lr').count()) === 2,
    );
    await soon(async () =>
      assert.deepEqual([await place(page, 'train/loss', 0), await place(page, 'train/loss', 1)], [0, 4000]),
    );
    await choose(page, 'Range selection');
    await until('one handle', async () => (await fobs(page, 'train/loss').count()) === 1);
  },

  async 'linked cards have one selection, others each their own'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&select=step&tags=train'));
    await type(page, 'train/loss', 0, '1000');
    await until('there', async () => (await place(page, 'train/loss')) === 1000);
    await soon(async () => assert.equal(await place(page, 'train/lr'), 4000));
    await card(page, 'train/loss').locator('h3').hover();
    await choose(page, 'Link the selection across all cards');
    await until('both', async () => (await place(page, 'train/lr')) === 1000);
    await type(page, 'train/lr', 0, '2000');
    await until('both', async () => (await place(page, 'train/loss')) === 2000);
    await choose(page, 'Link the selection across all cards');
    await type(page, 'train/lr', 0, '3000');
    await until('one', async () => (await place(page, 'train/lr')) === 3000);
    await soon(async () => assert.equal(await place(page, 'train/loss'), 2000));
  },

  async 'a card says when the selection is clipped to its data, and when the nearest step is shown'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&select=step&link=on&at=9000|'));
    await card(page, 'train/loss').locator('.warn').waitFor();
    await soon(async () => assert.equal(await card(page, 'train/loss').locator('.warn').innerText(), 'clipped'));
    await soon(async () =>
      assert.match(await card(page, 'train/loss').locator('.warn').getAttribute('title'), /\(0 to 4\u2009000\)/),
    );
    await soon(async () => assert.equal(await place(page, 'train/loss'), 4000));
    await type(page, 'train/loss', 0, '1001');
    await until(
      'nearest',
      async () => (await card(page, 'train/loss').locator('.warn').allInnerTexts())[0] === 'nearest step',
    );
    await soon(async () => assert.ok((await cells(page, 'train/loss', 'step')).every((text) => plain(text) === 1000)));
    await shot(page, 'select-nearest');
    await type(page, 'train/loss', 0, '1000');
    await until('nothing to say', async () => (await card(page, 'train/loss').locator('.warn').count()) === 0);
  },

  async 'the table says what the log says at a step that is not drawn'(keep) {
    const server = await longRun();
    const truth = await logged(server, 'long', 'loss');
    const line = smoothed(truth, 0.6);
    const page = keep(await openCharts(server, '#timeseries&select=step&at=30001|loss'));
    await exact(page, 'loss');
    await soon(async () => assert.equal(plain((await cells(page, 'loss', 'step'))[0]), 30001));
    await soon(async () => assert.equal((await titles(page, 'loss', 'value'))[0], String(truth[30001].value)));
    await soon(async () =>
      assert.ok(Math.abs(Number((await titles(page, 'loss', 'smoothed'))[0].split(' ')[0]) - line[30001].value) < 1e-9),
    );
  },

  async 'min, max, mean and change over a range are those of all points, smoothed throughout, raw in the tooltip'(
    keep,
  ) {
    const server = await longRun();
    const truth = (await logged(server, 'long', 'loss')).slice(12345, 41013 + 1);
    const line = smoothed(await logged(server, 'long', 'loss'), 0.6).slice(12345, 41013 + 1);
    const page = keep(await openCharts(server, '#timeseries&select=range&at=12345~41013|loss'));
    await page.evaluate(() => {
      const kept = JSON.parse(localStorage.getItem('seaboard.settings') ?? '{}');
      kept['ts.tableColumns'] = {
        single: ['run'],
        range: ['run', 'min', 'max', 'mean', 'start', 'end', 'change', 'percent', 'minStep', 'maxStep', 'rawChange'],
      };
      localStorage.setItem('seaboard.settings', JSON.stringify(kept));
    });
    await page.reload();
    await exact(page, 'loss');
    const sums = (points) => ({
      min: Math.min(...points.map((p) => p.value)),
      max: Math.max(...points.map((p) => p.value)),
      mean: points.reduce((sum, p) => sum + p.value, 0) / points.length,
      start: points[0].value,
      end: points.at(-1).value,
      change: points.at(-1).value - points[0].value,
    });
    const smooth = sums(line);
    const raw = sums(truth);
    assert.equal(raw.min, -7);
    for (const column of Object.keys(smooth)) {
      const found = await until(column, async () =>
        /^(\S+) · raw (\S+)$/.exec((await titles(page, 'loss', column))[0]),
      );
      assert.ok(Math.abs(Number(found[1]) - smooth[column]) < 1e-9, `${column} ${found[1]} ${smooth[column]}`);
      assert.ok(Math.abs(Number(found[2]) - raw[column]) < 1e-9, `raw ${column} ${found[2]} ${raw[column]}`);
    }
    const percent = Number((await titles(page, 'loss', 'percent'))[0]);
    assert.ok(Math.abs(percent - smooth.change / Math.abs(smooth.start)) < 1e-9);
    await soon(async () =>
      assert.equal(
        Number((await titles(page, 'loss', 'minStep'))[0]),
        line.find((p) => p.value === smooth.min)?.step ?? 30001,
      ),
    );
    await soon(async () =>
      assert.ok(Math.abs(Number((await titles(page, 'loss', 'rawChange'))[0]) - raw.change) < 1e-9),
    );
  },

  async 'a range that ends on the first point has all its numbers'(keep) {
    const page = keep(await openCharts('demo', `${ONE}&select=range&at=0~0|train/loss`));
    await exact(page, 'train/loss');
    for (const column of ['min', 'max', 'start', 'end'])
      await soon(async () => assert.match((await cells(page, 'train/loss', column))[0], /^\d/, column));
    await soon(async () =>
      assert.equal((await cells(page, 'train/loss', 'min'))[0], (await cells(page, 'train/loss', 'max'))[0]),
    );
  },

  async 'a dragged handle shows the drawn points at once and asks for all when it rests'(keep) {
    const page = keep(await openCharts('demo', `${ONE}&select=step&at=1000|train/loss`));
    await exact(page, 'train/loss');
    let asked = 0;
    await page.route('**/api/v1/measure', async (route) => {
      asked++;
      await until('looked', () => page.evaluate(() => window.looked));
      await route.continue();
    });
    const before = (await cells(page, 'train/loss', 'value'))[0];
    await drag(page, 'train/loss', 0, 80);
    await until(
      'other numbers before any answer',
      async () => (await cells(page, 'train/loss', 'value'))[0] !== before,
    );
    await until('asked', () => asked > 0);
    await soon(async () =>
      assert.equal(await card(page, 'train/loss').locator('.table').getAttribute('data-exact'), 'false'),
    );
    await page.evaluate(() => (window.looked = true));
    await exact(page, 'train/loss');
    assert.ok(asked <= 2, `asked ${asked} times`);
  },

  async 'heads sort up, down and not at all, and the address says so'(keep) {
    const page = keep(await openCharts('demo', `${ONE}&select=step&tall=train/loss`));
    await exact(page, 'train/loss');
    const unsorted = await runOf(page, 'train/loss');
    assert.equal(unsorted.length, 9);
    const head = card(page, 'train/loss').getByRole('columnheader', { name: 'Value' }).getByRole('button');
    await head.click();
    const values = await soon(async () => {
      const found = (await cells(page, 'train/loss', 'value')).map(plain);
      assert.deepEqual(
        found,
        [...found].sort((a, b) => a - b),
      );
      return found;
    });
    await soon(async () =>
      assert.equal(
        await card(page, 'train/loss').getByRole('columnheader', { name: 'Value' }).getAttribute('aria-sort'),
        'ascending',
      ),
    );
    await head.click();
    await inAddress(page, /tsort=-value/);
    await soon(async () =>
      assert.deepEqual((await cells(page, 'train/loss', 'value')).map(plain), values.toReversed()),
    );
    await head.click();
    await soon(async () => assert.deepEqual(await runOf(page, 'train/loss'), unsorted));
  },

  async 'a table of more than three runs can show all, and its height is dragged'(keep) {
    const page = keep(await openCharts('demo', `${ONE}&select=step`));
    await exact(page, 'train/loss');
    const height = async () => (await card(page, 'train/loss').boundingBox()).height;
    const before = await height();
    await card(page, 'train/loss').getByRole('button', { name: 'all 9' }).click();
    await until('taller', async () => (await height()) > before + 100);
    await inAddress(page, /tall=train\/loss/);
    await card(page, 'train/loss').getByRole('button', { name: 'fewer' }).click();
    await until('as before', async () => (await height()) === before);
    const grip = await card(page, 'train/loss').getByRole('separator').boundingBox();
    await page.mouse.move(grip.x + grip.width / 2, grip.y + 4);
    await page.mouse.down();
    await page.mouse.move(grip.x + grip.width / 2, grip.y + 64, {
      steps: 4,
    });
    await page.mouse.up();
    await soon(async () => assert.equal(await height(), before + 60));
    await card(page, 'train/loss').getByRole('separator').focus();
    await page.keyboard.press('ArrowUp');
    await until('by key', async () => (await height()) === before + 36);
    await page.reload();
    await exact(page, 'train/loss');
    await soon(async () => assert.equal(await height(), before + 36));
  },

  async 'a card whose table grows stays under the pointer'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&select=step&row=1'));
    await page.locator('.cards').evaluate((box) => (box.scrollTop = 1500));
    await until('a card in the middle', async () => (await card(page, 'val/accuracy').count()) === 1);
    await card(page, 'val/accuracy').scrollIntoViewIfNeeded();
    await card(page, 'val/accuracy').hover();
    const before = await card(page, 'val/accuracy').boundingBox();
    await card(page, 'val/accuracy').getByRole('separator').focus();
    await page.keyboard.press('ArrowDown');
    await until('grown', async () => (await card(page, 'val/accuracy').boundingBox()).height === before.height + 24);
    await soon(async () => assert.equal((await card(page, 'val/accuracy').boundingBox()).y, before.y));
  },

  async 'columns are shown, hidden, moved by key and by drag, and kept'(keep) {
    const page = keep(await openCharts('demo', `${ONE}&select=step`));
    await exact(page, 'train/loss');
    await card(page, 'train/loss').getByRole('button', { name: 'Table columns…' }).click();
    const dialog = page.getByRole('dialog', {
      name: 'Table columns',
    });
    await dialog.getByRole('checkbox', { name: 'Relative' }).click();
    await dialog.getByRole('option', { name: 'lr hyperparameter · differs' }).click();
    await dialog.getByRole('checkbox', { name: 'Step', exact: true }).focus();
    await page.keyboard.press('Alt+ArrowUp');
    await axe(page, 'columns');
    await shot(page, 'select-columns');
    const rows = dialog.locator('ul').first().locator('li');
    const from = await rows.filter({ hasText: 'lr' }).locator('.grip').boundingBox();
    const to = await rows.nth(1).boundingBox();
    await page.mouse.move(from.x + 5, from.y + 5);
    await page.mouse.down();
    await page.mouse.move(to.x + 20, to.y + 10, { steps: 5 });
    await page.mouse.up();
    await soon(async () =>
      assert.deepEqual(
        (await rows.allInnerTexts()).map((text) => text.split('\n')[0].trim()),
        ['Run', 'lr', 'Smoothed', 'Step', 'Value'],
      ),
    );
    await dialog.getByRole('tab', { name: 'Range' }).click();
    await dialog.getByRole('option', { name: 'Step at max' }).click();
    await page.keyboard.press('Escape');
    await soon(async () =>
      assert.deepEqual(await heads(page, 'train/loss'), ['Run', 'lr', 'Smoothed', 'Step', 'Value']),
    );
    await soon(async () => assert.ok((await cells(page, 'train/loss', 'h:lr')).some((text) => text.trim() === '3e−4')));
    await page.reload();
    await exact(page, 'train/loss');
    await soon(async () =>
      assert.deepEqual(await heads(page, 'train/loss'), ['Run', 'lr', 'Smoothed', 'Step', 'Value']),
    );
    await choose(page, 'Range selection');
    await until('the column', async () => (await heads(page, 'train/loss')).includes('Step at max'));
  },

  async "a head's menu sorts, inserts left and right, filters and removes"(keep) {
    const page = keep(await openCharts('demo', `${ONE}&select=step`));
    await exact(page, 'train/loss');
    await headMenu(page, 'train/loss', 'Value', 'Sort descending');
    await inAddress(page, /tsort=-value/);
    await headMenu(page, 'train/loss', 'Relative', 'Remove this column');
    await soon(async () => assert.deepEqual(await heads(page, 'train/loss'), ['Run', 'Smoothed', 'Value ▾', 'Step']));
    await headMenu(page, 'train/loss', 'Value', 'to the left');
    await page.keyboard.type('model');
    await axe(page, 'picker');
    await page.keyboard.press('Enter');
    await headMenu(page, 'train/loss', 'Value', 'to the right');
    await page.keyboard.type('rela');
    await page.keyboard.press('Enter');
    await until('both', async () => (await heads(page, 'train/loss')).length === 6);
    await soon(async () =>
      assert.deepEqual(await heads(page, 'train/loss'), ['Run', 'Smoothed', 'model', 'Value ▾', 'Relative', 'Step']),
    );
    await card(page, 'train/loss').getByRole('columnheader', { name: 'model' }).getByRole('button').focus();
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Filter runs by model…' }).click();
    await page
      .getByRole('dialog', { name: /model/ })
      .getByRole('checkbox', { name: /resnet/ })
      .uncheck();
    await inAddress(page, /where=.*model/);
    await until('without them', async () => (await runOf(page, 'train/loss')).every((run) => !run.includes('resnet')));
  },

  async 'what is selected is in the address: another person sees the same, undo goes back'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&tags=train'));
    await page.locator('h1').click();
    await page.keyboard.press('x');
    await type(page, 'train/loss', 0, '1000');
    await inAddress(page, /at=1000\|train\/loss/);
    await click(page, 'train/loss', 0.8);
    await inAddress(page, /at=1000~\d+\|train\/loss/);
    const link = await address(page);
    const other = keep(await openCharts('demo', link));
    await until('the same', async () => (await fobs(other, 'train/loss').count()) === 2);
    await soon(async () => assert.equal(await place(other, 'train/loss'), 1000));
    await soon(async () => assert.equal(await place(other, 'train/loss', 1), await place(page, 'train/loss', 1)));
    await page.locator('h1').click();
    await page.keyboard.press('Control+z');
    await until('one handle', async () => (await fobs(page, 'train/loss').count()) === 1);
    await soon(async () => assert.equal(await place(page, 'train/loss'), 1000));
  },

  async 'the keyboard moves a handle by a point, by ten, to the ends, past the other, and removes it'(keep) {
    const page = keep(
      await openCharts('demo', `${ONE}&smooth=0&zoom=900~1500||train/loss&select=step&at=1000|train/loss`),
    );
    const is = (v, i = 0) => until(`at ${v}`, async () => (await place(page, 'train/loss', i)) === v);
    await fob(page, 'train/loss').focus();
    await page.keyboard.press('ArrowRight');
    await is(1004);
    await page.keyboard.press('Shift+ArrowLeft');
    await is(964);
    await page.keyboard.press('2');
    await page.keyboard.type('00');
    await page.keyboard.press('Enter');
    await is(200);
    await type(page, 'train/loss', 0, '1000');
    await click(page, 'train/loss', 0.5);
    await until('two', async () => (await fobs(page, 'train/loss').count()) === 2);
    const end = await place(page, 'train/loss', 1);
    await fob(page, 'train/loss', 0).focus();
    for (let at = 1000; at <= end; at += 40) await page.keyboard.press('PageUp');
    await until('past the other', async () => (await place(page, 'train/loss', 0)) === end);
    await soon(async () =>
      assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'End of the range'),
    );
    await page.keyboard.press('Delete');
    await is(end);
    await soon(async () => assert.equal(await fobs(page, 'train/loss').count(), 1));
    await page.keyboard.press('Delete');
    await until('none', async () => (await fobs(page, 'train/loss').count()) === 0);
  },

  async 'relative and wall time can be selected too'(keep) {
    const page = keep(await openCharts('demo', `${ONE}&select=step&x=relative&runs=vit`));
    await type(page, 'train/loss', 0, '1 h');
    await inAddress(page, /at=3600\|/);
    await exact(page, 'train/loss');
    await soon(async () =>
      assert.ok(
        (await cells(page, 'train/loss', 'relative')).every((text) =>
          /^(1 h|59 min \d+ s|60 min|1 h 0 min)$/.test(text),
        ),
      ),
    );
    await page.getByRole('radio', { name: 'Wall' }).click();
    await until('forgotten, being of another axis', async () => !/at=/.test(await hash(page)));
    await click(page, 'train/loss', 0.5);
    await inAddress(page, /at=1\d{9}/);
    await exact(page, 'train/loss');
    await shot(page, 'select-wall');
  },

  async 'full size has the same handles and the same table'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&full=train/loss'));
    const full = page.locator('dialog[open]');
    await full.locator('.table[data-exact=true]').waitFor();
    await soon(async () => assert.equal(await full.getByRole('row').count(), 10));
    await full.getByRole('button', { name: 'Range selection' }).click();
    await until('a range', async () => (await full.getByRole('slider').count()) === 2);
    await full.locator('.table[data-exact=true]').waitFor();
    await axe(page, 'full');
    await shot(page, 'select-full');
  },

  async 'a selection nobody has moved stays at the newest point, and the table with it'(keep) {
    const server = await serve('fresh', (logdir) => {
      const run = new RunWriter(logdir, 'growing', Date.now() / 1000 - 100);
      for (let step = 0; step < 20; step++) run.scalars(step, { loss: 1 / (step + 1) });
      return run.flush();
    });
    const run = server.filled;
    const page = keep(await openCharts(server, '#timeseries&select=step&smooth=0'));
    await until('the end', async () => (await place(page, 'loss')) === 19);
    for (let step = 20; step < 30; step++) run.scalars(step, { loss: step });
    run.flush();
    await until('the new end', async () => (await place(page, 'loss')) === 29);
    await until('its value', async () => (await titles(page, 'loss', 'value'))[0] === '29');
    await type(page, 'loss', 0, '5');
    await until('moved', async () => (await place(page, 'loss')) === 5);
    run.scalars(30, { loss: 30 }).flush();
    await until('drawn', async () => /31 of 31/.test(await card(page, 'loss').locator('footer').innerText()));
    await soon(async () => assert.equal(await place(page, 'loss'), 5));
  },

  async 'a zoomed card tells of a selection beyond its zoom'(keep) {
    const page = keep(await openCharts('demo', `${ONE}&select=step&zoom=500~1000||train/loss&at=1500|train/loss`));
    await exact(page, 'train/loss');
    await soon(async () => assert.ok((await cells(page, 'train/loss', 'step')).every((text) => plain(text) === 1500)));
    await soon(async () => assert.match(await fob(page, 'train/loss').innerText(), /›/));
    const inside = keep(await openCharts('demo', `${ONE}&select=step&at=1500|train/loss`));
    await exact(inside, 'train/loss');
    await soon(async () =>
      assert.deepEqual(await titles(page, 'train/loss', 'value'), await titles(inside, 'train/loss', 'value')),
    );
  },

  async 'a card of several tags has a row for each, and a comparison is what the table measures'(keep) {
    const page = keep(
      await openCharts(
        'demo',
        '#timeseries&combine=train/loss%1Fval/loss&tags=loss&select=step&smooth=0&runs=vit&at=1000|',
      ),
    );
    const both = 'train/loss\u001fval/loss';
    await exact(page, both);
    await card(page, both).getByRole('button', { name: 'all 6' }).click();
    await until('six rows', async () => (await runOf(page, both)).length === 6);
    await soon(async () =>
      assert.equal((await runOf(page, both)).filter((text) => text.includes('val/loss')).length, 3),
    );
    const compared = keep(
      await openCharts('demo', `${ONE}&select=step&smooth=0&runs=vit&base=vit-b16/seed1&compare=difference&at=1000|`),
    );
    await exact(compared, 'train/loss');
    const found = Object.fromEntries(
      (await runOf(compared, 'train/loss')).map((run, i) => [run.replace(/\s/g, ''), i]),
    );
    const differences = (await titles(compared, 'train/loss', 'value')).map(Number);
    const server = await serve('demo');
    const at = async (run) => (await logged(server, run, 'train/loss')).find((p) => p.step === 1000).value;
    assert.equal(differences[found['vit-b16/seed1']], 0);
    await soon(async () =>
      assert.ok(
        Math.abs(differences[found['vit-b16/seed2']] - ((await at('vit-b16/seed2')) - (await at('vit-b16/seed1')))) <
          1e-9,
      ),
    );
  },

  async 'bands have rows of groups'(keep) {
    const page = keep(await openCharts('demo', `${ONE}&select=range&group=path&colour=group&bands=std`));
    await until('three rows', async () => (await runOf(page, 'train/loss')).length === 3);
    await soon(async () => assert.match((await cells(page, 'train/loss', 'min'))[0], /^\d/));
  },

  async 'a thousand runs: only the rows in sight exist'(keep) {
    const page = keep(await openCharts('many', '#timeseries&select=range&tall=m0/metric_0'));
    await exact(page, 'm0/metric_0');
    await soon(async () => assert.ok((await card(page, 'm0/metric_0').getByRole('row').count()) < 60));
    await soon(async () =>
      assert.equal(await card(page, 'm0/metric_0').getByRole('table').getAttribute('aria-rowcount'), '1001'),
    );
  },

  async 'axe finds nothing in selections and tables, in both themes and languages'(keep) {
    for (const colorScheme of ['light', 'dark'])
      for (const locale of ['en-GB', 'zh-CN']) {
        const page = keep(
          await openCharts('demo', `${ONE}&select=range&link=on&at=501~9000|`, { colorScheme, locale }),
        );
        await exact(page, 'train/loss');
        await axe(page, `${colorScheme} ${locale}`, '.slot');
        await shot(page, `select-${colorScheme}-${locale.slice(0, 2)}`);
        await page.context().close();
      }
  },
};
