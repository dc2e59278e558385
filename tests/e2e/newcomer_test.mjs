// The first page as somebody finds it who has never seen it: what it says must be true without a second look.
// Which test is for which point: docs/design/parity.md, "The first page, as a newcomer finds it".
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformer } from './graphs.mjs';
import { card, openCharts, serve, soon, svgOf, until } from './harness.mjs';
import { random, RunWriter } from './logs.mjs';
import { kineto, writeTrace } from './profiles.mjs';
import { menuOf } from './runs.mjs';

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

/** Charts of a log of their own, which is there before its server. */
const fresh = async (write, hash = '', options = {}) => openCharts(await serve('fresh', write), hash, options);

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

  async 'names of runs keep what tells them apart: in the list, the legend and the tooltip'(keep) {
    const page = keep(await fresh(writeSeeds, '#timeseries&runs=adam-lr0.001 and validation&row=3'));
    await soon(async () => {
      const rows = page.locator('[data-run] .name');
      assert.equal(await rows.count(), 3);
      const texts = await rows.evaluateAll((all) => all.map((cell) => cell.innerText.trim()));
      assert.deepEqual(texts, ['…seed1…', '…seed2…', '…seed3…']);
      const whole = await rows.evaluateAll((all) =>
        all.every((cell) =>
          [...cell.querySelectorAll('span')].every((part) => part.scrollWidth <= part.clientWidth + 1),
        ),
      );
      assert.ok(whole, 'nothing is cut off');
    });
    const legend = card(page, 'loss').locator('ul li');
    await soon(async () => assert.deepEqual(await legend.allInnerTexts(), ['…seed1…', '…seed2…', '…seed3…']));
  },

  async 'eight bands of four settings with training and validation are named on their card'(keep) {
    const page = keep(await fresh(writeSeeds, '#timeseries&group=seeds&colour=group&bands=std'));
    await soon(async () => {
      const names = await card(page, 'loss')
        .locator('ul li')
        .evaluateAll((items) =>
          items.map((item) => ({
            text: item.innerText.trim(),
            isWhole:
              item.lastElementChild.scrollWidth <= item.lastElementChild.clientWidth &&
              item.getBoundingClientRect().bottom <= item.parentElement.getBoundingClientRect().bottom + 1,
          })),
        );
      assert.equal(new Set(names.map(({ text }) => text)).size, 8);
      assert.deepEqual(
        names.filter(({ isWhole }) => !isWhole),
        [],
      );
    });
  },

  async 'long names that share little stay different in the legend and in the tooltip, and none is cut off'(keep) {
    const names = [
      'resnet50-imagenet-lr0.001-wd0.1-bs256',
      'resnet50-imagenet-lr0.003-wd0.1-bs256',
      'vit-b16-cifar-baseline-of-last-tuesday',
    ];
    const page = keep(
      await fresh(
        (logdir) => {
          for (const [r, name] of names.entries()) {
            const run = new RunWriter(logdir, name, Date.now() / 1000 - DAY);
            for (let step = 0; step < 50; step++)
              run.scalars(step, Object.fromEntries(Array.from({ length: 9 }, (_, k) => [`train/x${k}`, r + step])));
            run.flush();
          }
        },
        '',
        { viewport: { width: 1440, height: 900 } },
      ),
    );
    const textsOf = (cells) =>
      cells.map((cell) => ({ text: cell.innerText.trim(), isWhole: cell.scrollWidth <= cell.clientWidth }));
    const areApart = (found) => {
      assert.equal(new Set(found.map(({ text }) => text)).size, 3, JSON.stringify(found));
      assert.ok(
        found.every(({ isWhole }) => isWhole),
        JSON.stringify(found),
      );
      for (const part of ['0.001', '0.003', 'vit'])
        assert.ok(
          found.some(({ text }) => text.includes(part)),
          JSON.stringify(found),
        );
    };
    const chart = card(page, 'train/x0');
    await soon(async () => areApart(await chart.locator('ul li span').evaluateAll(textsOf)));
    await plot(page, 'train/x0').hover({ position: { x: 200, y: 60 } });
    await soon(async () => areApart(await page.locator('.tip tbody .name').evaluateAll(textsOf)));
  },

  async 'groups in the list keep what tells them apart, in the order of their numbers'(keep) {
    const page = keep(
      await fresh(
        (logdir) => {
          for (const optimizer of ['adam', 'sgd'])
            for (const learning_rate of [0.03, 0.003])
              for (const seed of [1, 2])
                for (const role of ['', '/train', '/validation']) {
                  const run = new RunWriter(
                    logdir,
                    `${optimizer}-lr${learning_rate}-seed${seed}${role}`,
                    Date.now() / 1000 - DAY,
                  );
                  run.hparams({ optimizer, learning_rate, seed });
                  if (role) run.scalars(0, { loss: 1 });
                  run.flush();
                }
        },
        '#timeseries&group=seeds&top=0',
        { viewport: { width: 1440, height: 1200 } },
      ),
    );
    await soon(async () => {
      const found = await page
        .locator('[data-group] .leaf')
        .evaluateAll((all) =>
          all.map((cell) => ({ text: cell.innerText, isWhole: cell.scrollWidth <= cell.clientWidth })),
        );
      const roles = ['', ' · train', ' · val'];
      assert.deepEqual(
        found,
        ['0.003, adam', '0.003, sgd', '0.03, adam', '0.03, sgd'].flatMap((name) =>
          roles.map((role) => ({ text: name + role, isWhole: true })),
        ),
      );
    });
    // names in a narrow column, without a folder that could be cut
    await page.evaluate(() => (location.hash = '#timeseries&cols=m:min:loss,h:learning_rate,h:optimizer'));
    await soon(async () => {
      const rows = await page
        .locator('[data-run$="seed2"] .leaf')
        .evaluateAll((all) =>
          all.map((cell) => ({ text: cell.textContent, isWhole: cell.scrollWidth <= cell.clientWidth })),
        );
      assert.deepEqual(rows, Array(4).fill({ text: 'seed2', isWhole: true }));
    });
    await page.evaluate(() => (location.hash = '#timeseries&group=seeds'));
    // the chips above the list say all of what they say
    await soon(async () => {
      const chips = await page
        .locator('.top .chip')
        .evaluateAll((all) =>
          all.map((chip) => [
            chip.innerText,
            [...chip.querySelectorAll('span')].every((e) => e.scrollWidth <= e.clientWidth),
          ]),
        );
      assert.equal(chips.length, 4);
      for (const [text, isWhole] of chips) assert.ok(isWhole, text);
      assert.equal(chips[2][0], 'Top N…');
    });
  },

  async 'names that share nothing keep their last words: in the list and in tables'(keep) {
    const page = keep(await fresh(writeSeeds, '#timeseries&select=step', { viewport: { width: 1440, height: 900 } }));
    const isWhole = (cells) =>
      cells.map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        const { width } = cell.getBoundingClientRect();
        return { text: cell.textContent, isWhole: range.getBoundingClientRect().width <= width + 0.1 };
      });
    await soon(async () => {
      const rows = await page.locator('[data-run$="seed2/validation"] .leaf').evaluateAll(isWhole);
      assert.equal(rows.length, 4);
      for (const row of rows) assert.deepEqual(row, { text: 'seed2/validation', isWhole: true });
    });
    await soon(async () => {
      const cells = await page.locator('.below .name .leaf').evaluateAll(isWhole);
      assert.ok(cells.length > 2);
      for (const { text, isWhole } of cells) {
        assert.match(text, /seed\d\/(train|validation)$/);
        assert.ok(isWhole, text);
      }
    });
    await soon(async () => {
      const [best] = await card(page, 'loss').locator('.best .cut').evaluateAll(isWhole);
      assert.match(best.text, /seed\d\/train$/);
      assert.ok(best.isWhole, best.text);
    });
  },

  async 'what the pointer is on comes forward in every chart: a row, an entry of a legend, a line'(keep) {
    const page = keep(await fresh(writeSeeds, '#timeseries&runs=adam-lr0.001 and train'));
    const forward = (tag) => plot(page, tag).getAttribute('data-forward');
    for (const aim of [page.locator('[data-run]').nth(1), card(page, 'accuracy').locator('ul li').nth(1)]) {
      await aim.hover();
      for (const tag of ['loss', 'accuracy']) await soon(async () => assert.equal(await forward(tag), '1'));
      await page.mouse.move(700, 4);
      await soon(async () => assert.equal(await forward('loss'), ''));
    }
    // the lines of accuracy are flat, so in the middle
    const { x, y, width, height } = await card(page, 'accuracy').locator('.plot-clip').boundingBox();
    await page.mouse.move(x + width / 2, y + height / 2);
    await soon(async () => assert.equal(await forward('loss'), '1'));
  },

  async 'groups of one tag share rows, tags without a group come last, and groups are found, folded and unfolded'(
    keep,
  ) {
    const page = keep(
      await fresh(
        (logdir) => {
          const run = new RunWriter(logdir, 'r', Date.now() / 1000 - DAY);
          const values = { plain: 1 };
          for (let k = 0; k < 10; k++) values[`group${k}/x`] = k;
          for (let step = 0; step < 30; step++) run.scalars(step, values);
          run.flush();
        },
        '',
        { viewport: { width: 2560, height: 1200 } },
      ),
    );
    await soon(async () => assert.equal(await page.locator('.slot').count(), 11));
    const boxes = await page
      .locator('.slot')
      .evaluateAll((all) => all.map((slot) => slot.getBoundingClientRect().toJSON()));
    const rows = Map.groupBy
      ? Map.groupBy(boxes, ({ top }) => top)
      : new Map(boxes.map((box) => [box.top, boxes.filter(({ top }) => top === box.top)]));
    assert.ok(rows.size <= 3, `${rows.size} rows`);
    const right = Math.max(...boxes.map((box) => box.right));
    for (const row of rows.values())
      assert.ok(Math.max(...row.map((box) => box.right)) > right - 2, 'each row is filled');
    const heads = await page.locator('.section h2 .title').allInnerTexts();
    assert.equal(heads.at(-1), 'Other');
    await page
      .getByRole('button', { name: /^Groups/ })
      .first()
      .click();
    await page.getByRole('combobox', { name: 'Find a group' }).fill('group7');
    await soon(async () => assert.equal(await page.getByRole('option').first().innerText(), 'group7\n1'));
    await page.getByRole('button', { name: 'Fold all', exact: true }).click();
    await soon(async () => assert.equal(await page.locator('.slot').count(), 0));
    await page
      .getByRole('button', { name: /^Groups/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Unfold all' }).click();
    await soon(async () => assert.equal(await page.locator('.slot').count(), 11));
  },

  async 'a tooltip takes at most a third of its card, and covers neither its point nor titles'(keep) {
    const page = keep(await openCharts('demo'));
    const chart = card(page, 'train/loss');
    const box = await chart.boundingBox();
    for (const [x, y] of [
      [0.3, 0.3],
      [0.6, 0.5],
      [0.95, 0.8],
    ]) {
      const at = { x: box.x + box.width * x, y: box.y + 40 + (box.height - 90) * y };
      await page.mouse.move(at.x, at.y);
      await soon(async () => {
        const tip = await page.locator('.tip').boundingBox();
        assert.ok(tip.width * tip.height <= (box.width * box.height) / 3 + 1, `${tip.width} × ${tip.height}`);
        const isBeside = tip.x > at.x + 4 || tip.x + tip.width < at.x - 4;
        assert.ok(isBeside, 'beside the pointer');
        assert.ok(tip.y >= box.y + 30 && tip.y + tip.height <= box.y + box.height + 10, 'between the titles');
      });
    }
  },

  async 'a frame of 800 × 600 has a strip of runs, little above the charts, and four of them'(keep) {
    const page = keep(await openCharts('demo', '', { viewport: { width: 800, height: 600 } }));
    await soon(async () => assert.match(await page.locator('.strip').innerText(), /Runs · 9 shown/));
    await soon(async () => assert.ok((await page.locator('.strip').boundingBox()).width <= 32));
    await soon(async () => {
      const bar = await page.locator('.bar[role=toolbar]').boundingBox();
      assert.ok(bar.y + bar.height <= 90, `controls end at ${bar.y + bar.height}`);
      const whole = await page
        .locator('.slot')
        .evaluateAll((all) => all.filter((slot) => slot.getBoundingClientRect().bottom <= innerHeight).length);
      assert.ok(whole >= 4, `${whole} whole charts`);
    });
    await page.locator('.strip').click();
    await page.locator('#run-filter').waitFor();
  },

  async 'on a phone Close is reachable at full size, Back closes it, and the runs have a button'(keep) {
    const page = keep(
      await openCharts('demo', '', { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true }),
    );
    const strip = await page.locator('.strip').boundingBox();
    assert.ok(strip.height >= 24 && strip.width >= 80, 'a button that looks like one');
    await card(page, 'train/loss').getByRole('button', { name: 'Full size' }).tap();
    const close = page.locator('dialog[open]').getByRole('button', { name: 'Close' });
    await soon(async () => {
      const box = await close.boundingBox();
      assert.ok(box && box.x >= 0 && box.x + box.width <= 390 && box.y >= 0, 'Close is on the screen');
    });
    await until('the address has it', () => page.evaluate(() => location.hash.includes('full=')));
    await page.goBack();
    await soon(async () => assert.equal(await page.locator('dialog[open]').count(), 0));
    await plot(page, 'train/loss').tap({ position: { x: 200, y: 60 } });
    await soon(async () => {
      const tip = await page.locator('.tip').boundingBox();
      assert.ok(tip && tip.x >= 0 && tip.x + tip.width <= 390, 'the tooltip is whole');
    });
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

  async 'a toolbar is one row at every width, and “More” shows what does not fit'(keep) {
    for (const [width, height] of [
      [390, 800],
      [800, 600],
      [1440, 900],
    ]) {
      const page = keep(await openCharts('demo', '', { viewport: { width, height } }));
      const bar = page.locator('.bar[role=toolbar]');
      const more = bar.getByRole('button', { name: /^More/ });
      const isInSight = async (name) => {
        const box = await bar.getByRole('button', { name }).boundingBox({ timeout: 2000 });
        return box !== null && box.x >= 0 && box.x + box.width <= width;
      };
      await soon(async () => {
        const box = await bar.boundingBox();
        assert.ok(box.height <= 45 && box.x + box.width <= width, `${width}: ${box.height}`);
        assert.ok(await bar.evaluate((element) => element.scrollWidth <= element.clientWidth), 'nothing goes sideways');
        assert.equal(await more.count(), width < 1440 ? 1 : 0);
      });
      if (width < 1440) {
        await soon(async () => assert.equal(await bar.getByRole('button', { name: 'Export' }).count(), 0));
        const first = await page.locator('.slot').first().boundingBox();
        await more.click();
        await bar.getByRole('button', { name: 'Export' }).waitFor();
        assert.deepEqual(await page.locator('.slot').first().boundingBox(), first, 'cards stay where they are');
      }
      await soon(async () => {
        for (const name of ['View ▾', 'Export', 'Saved views']) assert.ok(await isInSight(name), `${name} at ${width}`);
      });
      if (width === 1440) continue;
      await page.keyboard.press('Escape');
      await soon(async () => assert.equal(await bar.getByRole('button', { name: 'Export' }).count(), 0));
      await page.keyboard.press('e');
      await page.getByRole('menuitem', { name: /as CSV/ }).waitFor();
    }
  },

  async 'toolbars of every dashboard are one row, with nothing cut or out of line, at every width'(keep) {
    const server = await serve('fresh', (logdir) => {
      const { graph, stats } = transformer();
      const run = new RunWriter(logdir, 'vit', Date.now() / 1000 - DAY)
        .graph(graph)
        .runMetadata('step 100', stats, 100);
      for (let step = 0; step < 3; step++) run.scalars(step, { loss: step }).histograms(step, { w: [[0, 1, 5]] });
      run.texts(0, { note: 'a text' }).flush();
      writeTrace(logdir, 'vit', 'host_1', kineto());
    });
    const page = keep(await openCharts(server));
    for (const tab of ['timeseries', 'profile', 'distributions', 'graphs', 'histograms', 'text']) {
      await page.evaluate((to) => (location.hash = to), tab);
      const bar = page.locator('.bar[role=toolbar]');
      for (const width of [390, 560, 800, 1024, 1280, 1440, 1920, 2560]) {
        await page.setViewportSize({ width, height: 900 });
        await soon(async () => {
          assert.ok((await page.evaluate(() => location.hash)).startsWith(`#${tab}`));
          const found = await bar.evaluate((element) => {
            const { bottom, right, height } = element.getBoundingClientRect();
            const controls = [...element.querySelectorAll('.row > *, .all')].filter((child) =>
              child.checkVisibility({ visibilityProperty: true }),
            );
            const boxes = controls.map((child) => child.getBoundingClientRect()).filter((box) => box.width > 0);
            return {
              height,
              below: boxes.filter((box) => box.bottom > bottom).length,
              end: right - Math.max(...boxes.map((box) => box.right)),
              middles: [...new Set(boxes.map((box) => Math.round(box.top + box.height / 2)))],
            };
          });
          const where = `${tab} at ${width}: ${JSON.stringify(found)}`;
          assert.equal(found.height, 44, where);
          assert.equal(found.below, 0, where);
          assert.ok(found.end >= 0 && found.end < 20, where);
          assert.ok(Math.max(...found.middles) - Math.min(...found.middles) <= 2, where);
        });
      }
    }
  },

  async 'a lone chart fills the page, and a few are as large as it allows'(keep) {
    const desktop = { width: 1440, height: 900 };
    const phone = { width: 390, height: 844 };
    for (const [tags, ...windows] of [
      [1, [desktop, 0.75], [phone, 0.55]],
      [2, [desktop, 0.92], [{ width: 2560, height: 1300 }, 0.92], [{ width: 800, height: 600 }, 0.9], [phone, 0.92]],
      [3, [desktop, 0.85]],
      [5, [desktop, 0.92]],
    ]) {
      const page = keep(
        await fresh((logdir) => {
          const run = new RunWriter(logdir, 'r', Date.now() / 1000 - DAY);
          for (let step = 0; step < 30; step++)
            run.scalars(step, Object.fromEntries(Array.from({ length: tags }, (_, k) => [`train/x${k}`, step * k])));
          run.flush();
        }),
      );
      for (const [{ width, height }, least] of windows) {
        await page.setViewportSize({ width, height });
        await soon(async () => {
          assert.equal(await page.locator('.slot').count(), tags);
          const room = await page.locator('.cards').boundingBox();
          const boxes = await page
            .locator('.slot')
            .evaluateAll((all) => all.map((slot) => slot.getBoundingClientRect().toJSON()));
          const bottom = Math.max(...boxes.map((box) => box.bottom));
          const right = Math.max(...boxes.map((box) => box.right));
          const where = `${tags} in ${width} × ${height} end at ${right}, ${bottom}`;
          assert.ok(bottom <= height && bottom > room.y + room.height * least, where);
          assert.ok(right > room.x + room.width - 40, where);
        });
      }
      await page.close();
    }
  },

  async 'a long title is cut in its middle, in one line with what the card says of its smoothing'(keep) {
    const tag = 'gradients/encoder.layers.11.self_attention.output_projection.weight';
    for (const width of [390, 1440]) {
      const page = keep(
        await fresh(
          (logdir) => {
            const run = new RunWriter(logdir, 'r', Date.now() / 1000 - DAY);
            const others = Object.fromEntries(Array.from({ length: 8 }, (_, k) => [`gradients/x${k}`, k]));
            for (let step = 0; step < 5; step++) run.scalars(step, { [tag]: step, ...others });
            run.flush();
          },
          '',
          { viewport: { width, height: 900 } },
        ),
      );
      const chart = card(page, tag);
      await chart.locator('.chip.small').waitFor();
      await soon(async () => {
        const title = chart.locator('h3');
        assert.equal(await title.getAttribute('title'), tag);
        const found = await title.evaluate((element) => {
          const { right } = element.getBoundingClientRect();
          const end = element.lastElementChild.getBoundingClientRect();
          const head = element.closest('header').getBoundingClientRect();
          const chip = element.parentElement.querySelector('.chip').getBoundingClientRect();
          return {
            text: element.lastElementChild.textContent,
            isWhole: end.right <= right + 1,
            isOneLine: head.height < 40 && chip.bottom <= head.bottom && chip.right <= head.right,
          };
        });
        assert.deepEqual(found, { text: 'tion.weight', isWhole: true, isOneLine: true }, `${width}`);
      });
    }
  },

  async 'the title of a card keeps its name and the end of its path'(keep) {
    const page = keep(
      await fresh(
        (logdir) => {
          const run = new RunWriter(logdir, 'r', Date.now() / 1000 - DAY);
          const values = {};
          for (let k = 0; k < 9; k++) values[`layer00/weight0${k}/norm`] = k;
          values.epoch_learning_rate = 1;
          for (let step = 0; step < 5; step++) run.scalars(step, values);
          run.flush();
        },
        '#timeseries&cols=',
        { viewport: { width: 1440, height: 900 } },
      ),
    );
    const partsOf = (title) => {
      const { left, right } = title.getBoundingClientRect();
      const range = document.createRange();
      return [...title.children].flatMap((part) => {
        if (part.textContent === '') return [];
        range.selectNodeContents(part);
        const own = part.getBoundingClientRect();
        const all = range.getBoundingClientRect();
        const isIn = own.left >= left - 1 && own.right <= right + 1;
        return [{ text: part.textContent, endIsSeen: isIn && all.right <= own.right + 1 }];
      });
    };
    await soon(async () => {
      assert.deepEqual(await card(page, 'layer00/weight07/norm').locator('h3').evaluate(partsOf), [
        { text: 'layer00/weight07/', endIsSeen: true },
        { text: 'norm', endIsSeen: true },
      ]);
      const { text, endIsSeen } = (await card(page, 'epoch_learning_rate').locator('h3').evaluate(partsOf)).at(-1);
      assert.match(text, /_rate$/);
      assert.ok(endIsSeen);
    });
  },

  async 'a group of four cards fills its rows'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&tags=^train/', { viewport: { width: 1440, height: 900 } }));
    await soon(async () => {
      const boxes = await page
        .locator('.slot')
        .evaluateAll((all) => all.map((slot) => slot.getBoundingClientRect().toJSON()));
      assert.equal(boxes.length, 4);
      const right = Math.max(...boxes.map((box) => box.right));
      for (const { top } of boxes) {
        const end = Math.max(...boxes.filter((box) => box.top === top).map((box) => box.right));
        assert.ok(end > right - 2, `a row ends at ${end} of ${right}`);
      }
    });
  },

  async 'chips have a width: a choice moves nothing beside it'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&group=path', { viewport: { width: 1440, height: 900 } }));
    const places = () =>
      page
        .locator('.bar[role=toolbar] button, .top .chip')
        .evaluateAll((all) => all.map((button) => Math.round(button.getBoundingClientRect().left)).join());
    await page.getByRole('button', { name: 'Bands: none' }).waitFor();
    const before = await places();
    await page.getByRole('button', { name: /^Bands/ }).click();
    await page.getByRole('menuitemcheckbox', { name: /min to max/ }).click();
    await page.getByRole('button', { name: 'Bands: min–max' }).waitFor();
    await page.getByRole('radio', { name: 'Relative' }).click();
    await page.getByRole('button', { name: /^Baseline/ }).click();
    await page
      .getByRole('menuitemcheckbox', { name: /convnext-s/ })
      .first()
      .click();
    await page.getByRole('button', { name: /^Baseline: convnext/ }).waitFor();
    await page
      .getByRole('button', { name: /^Group/ })
      .first()
      .click();
    await page.getByRole('menuitemcheckbox', { name: 'As a folder tree' }).click();
    await page.getByRole('button', { name: 'Group: tree' }).waitFor();
    await soon(async () => assert.equal(await places(), before));
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

  async 'on every axis a tooltip stands beside its point, also where points are far from each other'(keep) {
    const page = keep(
      await fresh((logdir) => {
        for (let r = 0; r < 3; r++) {
          const run = new RunWriter(logdir, `run${r}`, Date.now() / 1000 - DAY);
          for (let step = 0; step < 5; step++) run.scalars(step, { loss: 5 - step + r });
          run.flush();
        }
      }),
    );
    for (const axis of ['Step', 'Relative', 'Wall']) {
      await page.getByRole('radio', { name: axis, exact: true }).click();
      const chart = card(page, 'loss');
      const box = await chart.boundingBox();
      const inner = await chart.locator('.plot-clip').boundingBox();
      const middle = inner.x + inner.width / 2; // the third of five points
      for (const off of [-40, 40]) {
        await page.mouse.move(middle + off, inner.y + inner.height / 2);
        await soon(async () => {
          const tip = await page.locator('.tip').boundingBox();
          assert.ok(
            tip.width * tip.height <= (box.width * box.height) / 3 + 1,
            `${axis}: ${tip.width} × ${tip.height}`,
          );
          assert.ok(tip.x > middle + 4 || tip.x + tip.width < middle - 4, `${axis}: over the point`);
          assert.ok(tip.x > middle + off + 4 || tip.x + tip.width < middle + off - 4, `${axis}: over the pointer`);
        });
      }
    }
  },

  async 'the header does not move when the age passes a minute'(keep) {
    const page = keep(await openCharts('demo', '', { viewport: { width: 1440, height: 900 } }));
    const find = page.getByRole('button', { name: /Find a tag/ });
    await soon(async () => assert.match(await page.locator('.live').innerText(), /\d+ s ago/));
    const before = await find.boundingBox();
    await page.locator('.live > span').evaluate((element) => (element.textContent = 'live · 59 min ago'));
    assert.deepEqual(await find.boundingBox(), before);
  },
};
