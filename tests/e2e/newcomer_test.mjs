// The first page as somebody finds it who has never seen it: what it says must be true without a second look. Here: groups and
// numbers, filters, tables, runs side by side.
// Which test is for which point: docs/design/parity.md, "The first page, as a newcomer finds it".
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { card, openCharts, soon, svgOf } from './harness.mjs';
import { random, RunWriter } from './logs.mjs';
import { DAY, fresh, legendOf, plot, ticksOf, writeSeeds } from './newcomer.mjs';
import { menuOf } from './runs.mjs';

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
    await page.setViewportSize({ width: 1440, height: 1800 }); // rows out of sight do not exist
    for (const [group, n] of [
      ['path', 24],
      ['seeds', 8],
      ['hparams:opt,seed', 12],
      ['regex:adam|sgd', 4],
    ]) {
      await page.evaluate((by) => (location.hash = `#timeseries&group=${by}&colour=group&bands=minmax`), group);
      await soon(async () => {
        const groups = await page.locator('[data-group]').evaluateAll((rows) => rows.map((row) => row.dataset.group));
        const roles = groups.map((key) => / · (train|validation)$/.exec(key)?.[1]);
        const half = Array(n / 2);
        assert.deepEqual(roles.toSorted(), [...half.fill('train'), ...half.fill('validation')], groups.join('; '));
      });
      await soon(async () =>
        assert.match(await card(page, 'loss').locator('footer').innerText(), new RegExp(`24 runs in ${n} groups`)),
      );
    }
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
    await soon(async () => assert.match(await chart.locator('header').innerText(), /not smoothed/));
    const ticks = ticksOf(await svgOf(page, 'epoch_loss'));
    assert.ok(Math.max(...ticks) >= 4 && Math.min(...ticks) <= 1, `0.4 to 5: ${ticks}`);
    await plot(page, 'epoch_loss').hover({ position: { x: 300, y: 20 } });
    await soon(async () => assert.equal(await page.locator('.tip th', { hasText: 'smoothed' }).count(), 0));
    // a smoothing that somebody chose holds for short logs, too; the raw line stays in the picture
    await page.getByRole('spinbutton', { name: /Smoothing/ }).fill('0.9');
    await page.keyboard.press('Enter');
    await soon(async () => assert.doesNotMatch(await chart.locator('header').innerText(), /not smoothed/));
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
    // Enter and the next key within one task: a fast hand on a slow machine
    const typed = await field.evaluate((input) => {
      input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
      document.execCommand('insertText', false, '>0.001');
      return input.value;
    });
    assert.equal(typed, 'learning_rate>0.001');
    await field.pressSequentially(' and not opt=sgd');
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
    await soon(async () => assert.ok(!(await page.evaluate(() => location.hash)).includes('zoom=')));
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
    const page = keep(
      await fresh((logdir) =>
        new RunWriter(logdir, 'a', Date.now() / 1000 - DAY).scalars(0, { loss: 1 }).hparams({ lr: 1 }).flush(),
      ),
    );
    await page.getByRole('button', { name: 'More', exact: false }).first().click();
    await page.getByRole('menuitem', { name: /HParams/ }).click();
    await soon(async () => assert.match(await page.locator('main').innerText(), /_hparams_/));
  },

  async 'an embedding beside the event files is found: the projector does not say that there is no data'(keep) {
    const page = keep(
      await fresh((logdir) => {
        new RunWriter(logdir, 'a', Date.now() / 1000 - DAY).scalars(0, { loss: 1 }).flush();
        writeFileSync(join(logdir, 'a', 'vectors.tsv'), '1\t2\n3\t4\n');
        writeFileSync(
          join(logdir, 'a', 'projector_config.pbtxt'),
          'embeddings { tensor_name: "words" tensor_path: "vectors.tsv" }\n',
        );
      }),
    );
    await page.getByRole('button', { name: 'More', exact: false }).first().click();
    await soon(async () =>
      assert.match(await page.getByRole('menuitem', { name: /Projector/ }).innerText(), /1 logged, no view/),
    );
    await page.getByRole('menuitem', { name: /Projector/ }).click();
    await soon(async () => assert.match(await page.locator('main li').innerText(), /^a\s*embedding/));
  },

  async 'picked runs are compared side by side: what differs first, the best marked, notes and one chart'(keep) {
    const page = keep(await fresh(writeSeeds, '#timeseries&runs=train'));
    const rows = page.locator('[data-run]');
    await soon(async () => assert.equal(await rows.count(), 12));
    await menuOf(page, await rows.nth(4).getAttribute('data-run'), 'Note…');
    await page.getByLabel('Note', { exact: true }).fill('from a long night');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await soon(async () => assert.equal(await rows.nth(4).locator('.noted').count(), 1));
    await rows.nth(0).locator('.name').click();
    const picked = () => page.locator('[data-run][aria-selected=true]').count();
    await soon(async () => assert.equal(await rows.nth(0).getAttribute('aria-selected'), 'true'));
    for (const [row, modifiers, n] of [
      [2, ['Shift'], 3],
      [0, [], 1],
      [4, ['Control'], 2],
    ]) {
      await rows.nth(row).locator('.name').click({ modifiers });
      await soon(async () => assert.equal(await picked(), n));
    }
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    const dialog = page.locator('dialog[open]');
    await dialog.locator('.plot[data-painted="2"]').waitFor();
    await soon(async () => {
      const lines = await dialog
        .locator('tbody tr')
        .evaluateAll((all) => all.map((row) => row.innerText.split('\t')[0].trim()));
      const same = lines.indexOf('What is the same');
      assert.deepEqual(lines.slice(0, 2), ['Note', 'What differs']);
      assert.ok(lines.indexOf('learning_rate') > 0 && lines.indexOf('learning_rate') < same, lines.join('; '));
      assert.ok(lines.indexOf('opt') > same, lines.join('; '));
      assert.equal((await dialog.locator('td.best').count()) > 0, true);
      const numbers = dialog
        .locator('tbody tr')
        .filter({ hasText: /^points/ })
        .locator('td');
      assert.equal(await numbers.first().evaluate((cell) => getComputedStyle(cell).textAlign), 'right');
      const words = dialog.locator('tbody tr').filter({ hasText: /^opt/ }).locator('td');
      assert.match(await words.first().evaluate((cell) => getComputedStyle(cell).textAlign), /^(left|start)$/);
      assert.match(await dialog.locator('table').innerText(), /from a long night/);
    });
    await dialog.getByRole('button', { name: 'Show only these on the page' }).click();
    await soon(async () => assert.match(await card(page, 'loss').locator('footer').innerText(), /2 runs/));
  },

  async 'the palette shows a tag and leaves the filter alone; axes say what x is'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&tags=train'));
    await page.keyboard.press('Control+k');
    await page.keyboard.type('latency');
    await page.keyboard.press('Enter');
    await soon(async () =>
      assert.equal(await page.locator('dialog[open] .chart').getAttribute('data-tag'), 'val/latency_ms'),
    );
    await page.keyboard.press('Escape');
    await soon(async () => assert.equal(await page.locator('#tag-filter').inputValue(), 'train'));
    assert.match(await svgOf(page, 'train/loss'), />step</);
  },

  async 'a chart is saved as a picture of a chosen size'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&tags=^train/loss$'));
    await card(page, 'train/loss').hover();
    await card(page, 'train/loss').locator('[aria-haspopup=menu]').click();
    await page.getByRole('menuitem', { name: /choose size/ }).click();
    const form = page.getByRole('dialog', { name: /choose size/ });
    await form.waitFor();
    await form.getByRole('radio', { name: 'SVG' }).click();
    await form.getByLabel('Size').selectOption('slide');
    await soon(async () => assert.equal(await form.getByLabel('Width').inputValue(), '1920'));
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      form.getByRole('button', { name: 'Save' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'train_loss.svg');
    let svg = '';
    for await (const part of await download.createReadStream()) svg += part;
    assert.match(svg, /<svg [^>]*width="1920" height="1080"/);
    assert.equal(legendOf(svg).length, 9);
  },

  async 'numbers have one minus sign, decimal points below each other, and say when they are raw'(keep) {
    const page = keep(
      await fresh((logdir) => {
        [12.5, 0.25, 3].forEach((level, r) => {
          const run = new RunWriter(logdir, `run${r}`, Date.now() / 1000 - DAY);
          run.hparams({ lr: [1e-5, 2e-4, 0.1][r] });
          for (let step = 0; step < 60; step++) run.scalars(step, { loss: level, drift: -1e-6 * step });
          run.flush();
        });
      }, '#timeseries&cols=m:min:loss,h:lr'),
    );
    const cells = page.locator('[data-run] .number');
    await soon(async () => {
      const texts = (await cells.allInnerTexts()).map((text) => text.trim());
      assert.deepEqual(texts.toSorted(), ['0.1', '0.2500', '12.50', '1e−5', '2e−4', '3']);
    });
    const points = await page.locator('[data-run]').evaluateAll((rows) =>
      rows.flatMap((row) => {
        const text = [...row.querySelector('.number').childNodes].find((node) => node.nodeType === Node.TEXT_NODE);
        const at = text.data.indexOf('.');
        if (at < 0) return [];
        const range = document.createRange();
        range.setStart(text, at);
        range.setEnd(text, at + 1);
        return [Math.round(range.getBoundingClientRect().left)];
      }),
    );
    assert.equal(points.length, 2);
    assert.ok(Math.abs(points[0] - points[1]) <= 1, points.join());
    assert.ok(ticksOf(await svgOf(page, 'drift')).length > 0);
    assert.doesNotMatch((await svgOf(page, 'drift')).replace(/<[^>]*>/g, ' '), /[\de]-\d/);
    const head = page.locator('[role=columnheader][data-column="m:min:loss"]');
    await soon(async () => assert.match(await head.innerText(), /min\s*raw/));
    await page.keyboard.press('s');
    await soon(async () => assert.doesNotMatch(await head.innerText(), /raw/));
  },
};
