// The first page as somebody finds it who has never seen it: names and titles keep what tells them apart, and what is pointed at
// comes forward.
// Which test is for which point: docs/design/parity.md, "The first page, as a newcomer finds it".
import assert from 'node:assert/strict';
import { card, soon } from './harness.mjs';
import { RunWriter } from './logs.mjs';
import { DAY, fresh, plot, writeSeeds } from './newcomer.mjs';

export default {
  async 'names of runs keep what tells them apart: in the list, the legend and the tooltip'(keep) {
    const page = keep(await fresh(writeSeeds, '#timeseries&runs=adam-lr0.001 and validation&row=3'));
    await soon(async () => {
      const rows = page.locator('[data-run] .name');
      assert.equal(await rows.count(), 3);
      const texts = await rows.evaluateAll((all) => all.map((cell) => cell.innerText.trim()));
      assert.deepEqual(texts, ['seed1', 'seed2', 'seed3']);
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
      cells.map((cell) => ({
        text: cell.innerText.trim(),
        isWhole: cell.scrollWidth <= cell.clientWidth,
      }));
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
                  run.hparams({
                    optimizer,
                    learning_rate,
                    seed,
                  });
                  if (role) run.scalars(0, { loss: 1 });
                  run.flush();
                }
        },
        '#timeseries&group=seeds&top=0',
        { viewport: { width: 1440, height: 1200 } },
      ),
    );
    await soon(async () => {
      const found = await page.locator('[data-group] .leaf').evaluateAll((all) =>
        all.map((cell) => ({
          text: cell.innerText,
          isWhole: cell.scrollWidth <= cell.clientWidth,
        })),
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
      const rows = await page.locator('[data-run$="seed2"] .leaf').evaluateAll((all) =>
        all.map((cell) => ({
          text: cell.textContent,
          isWhole: cell.scrollWidth <= cell.clientWidth,
        })),
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

  async 'a card that shows differences keeps its own name'(keep) {
    const page = keep(
      await fresh(
        (logdir) => {
          for (const name of [
            'adam-lr0.001-seed1-of-the-first-sweep/train',
            'sgd-lr0.001-seed1-of-the-first-sweep/train',
          ]) {
            const run = new RunWriter(logdir, name, Date.now() / 1000 - DAY);
            for (let step = 0; step < 30; step++)
              run.scalars(step, { a: 1, epoch_learning_rate: step, epoch_loss_of_the_decoder: step });
            run.flush();
          }
        },
        '',
        { viewport: { width: 1440, height: 900 } },
      ),
    );
    await page.getByRole('button', { name: /^Baseline/ }).click();
    await page.getByRole('menuitemcheckbox', { name: /^adam/ }).click();
    await soon(async () => {
      const ends = await page
        .locator('[data-card] h3 .end')
        .evaluateAll((all) =>
          all.map((end) => [end.textContent, end.clientWidth >= end.scrollWidth && end.clientWidth > 20]),
        );
      assert.deepEqual(
        ends.map(([, isWhole]) => isWhole),
        [true, true],
        JSON.stringify(ends),
      );
      assert.equal(await page.locator('h3 .after').count(), 3);
    });
  },

  async 'names that share nothing keep what tells them apart: in the list and in tables'(keep) {
    const page = keep(
      await fresh(writeSeeds, '#timeseries&select=step', {
        viewport: { width: 1440, height: 900 },
      }),
    );
    const isWhole = (cells) =>
      cells.map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        const { width } = cell.getBoundingClientRect();
        return {
          text: cell.textContent,
          isWhole: range.getBoundingClientRect().width <= width + 0.1,
        };
      });
    await soon(async () => {
      const rows = await page.locator('[data-run$="seed2/validation"] .leaf').evaluateAll(isWhole);
      assert.equal(rows.length, 4);
      for (const row of rows) assert.ok(row.isWhole && /^lr[\d.]+-seed2\/val…$/.test(row.text), row.text);
    });
    await soon(async () => {
      const cells = await page.locator('.below .name .leaf').evaluateAll(isWhole);
      assert.ok(cells.length > 2);
      for (const { text, isWhole } of cells) {
        assert.match(text, /seed\d\/(train|val…)$/);
        assert.ok(isWhole, text);
      }
    });
    await soon(async () => {
      const [best] = await card(page, 'loss').locator('.best .cut').evaluateAll(isWhole);
      assert.match(best.text, /seed\d\/train$/);
      assert.ok(best.isWhole, best.text);
    });
  },

  async 'one run of another kind does not hide what tells thirty others apart'(keep) {
    const page = keep(
      await fresh((logdir) => {
        const names = ['实验一/基线模型'];
        for (const set of ['imagenet', 'places365'])
          for (const rate of ['0.0003', '0.003', '0.03'])
            for (let seed = 1; seed <= 5; seed++) names.push(`vit-b16-${set}-lr${rate}-seed${seed}-augmented-final`);
        for (const name of names) new RunWriter(logdir, name, DAY).scalars(1, { 'train/loss/total': 1 }).flush();
      }),
    );
    await soon(async () => {
      const seen = await page.locator('[data-run^="vit"] .name').evaluateAll((cells) =>
        cells.map((cell) => {
          const { right } = cell.getBoundingClientRect();
          const parts = [...cell.querySelectorAll('.start, .leaf')];
          const isWhole = parts.every((part) => part.scrollWidth <= part.clientWidth + 1);
          return {
            text: parts.map((part) => part.textContent).join(''),
            isWhole: isWhole && parts.at(-1).getBoundingClientRect().right <= right,
          };
        }),
      );
      assert.ok(seen.length >= 15);
      assert.equal(new Set(seen.map(({ text }) => text)).size, seen.length);
      for (const { text } of seen.slice(0, 15)) assert.match(text, /lr0\.0*3-seed\d$/);
      for (const { text, isWhole } of seen.slice(0, 15)) assert.ok(isWhole, text);
    });
  },

  async 'names with spaces keep them where the list cuts them'(keep) {
    const write = (logdir) => {
      for (const rate of ['3e-3', '1e-3'])
        new RunWriter(logdir, `vit-b16, lr ${rate}`, DAY).scalars(1, { loss: 1 }).flush();
    };
    const page = keep(await fresh(write));
    const starts = page.locator('[data-run] .name .start');
    await soon(async () => assert.equal(await starts.count(), 2));
    const widths = await starts.evaluateAll((all) =>
      all.map(({ firstChild: text }) => {
        const last = document.createRange();
        last.setStart(text, text.length - 1);
        last.setEnd(text, text.length);
        return [last.toString(), last.getBoundingClientRect().width > 0];
      }),
    );
    assert.deepEqual(widths, [
      [' ', true],
      [' ', true],
    ]);
  },

  async 'rows of a tooltip keep what tells their runs from all others of the chart'(keep) {
    const page = keep(await fresh(writeSeeds));
    await plot(page, 'loss').hover({ position: { x: 200, y: 60 } });
    await soon(async () => {
      const rows = await page.locator('.tip tbody .name').allInnerTexts();
      assert.ok(rows.length > 2);
      for (const row of rows) assert.match(row, /^(adam|sgd)-lr0\.0?01-seed\d\/(train|val)$/);
    });
    await page.evaluate(() => (location.hash = '#timeseries&group=seeds&colour=group&bands=std'));
    await soon(async () => assert.match(await card(page, 'loss').locator('footer').innerText(), /24 runs in 8 groups/));
    await plot(page, 'loss').hover({ position: { x: 202, y: 60 } });
    await soon(async () => {
      const rows = await page.locator('.tip tbody .name').allInnerTexts();
      assert.ok(rows.length > 2);
      for (const row of rows) assert.match(row, /^…0\.0?01, …(adam|sgd) · (train|val)$/);
    });
  },

  async 'names that fit beside the numbers of a tooltip are whole'(keep) {
    const page = keep(
      await fresh((logdir) => {
        for (const lr of [0.01, 0.1])
          for (const seed of [1, 2, 3])
            new RunWriter(logdir, `lr${lr}-bs16-seed${seed}`, Date.now() / 1000 - DAY)
              .scalars(0, {
                'train/a': lr,
                'train/b': lr,
                'train/c': lr,
              })
              .scalars(1, {
                'train/a': seed,
                'train/b': lr,
                'train/c': lr,
              })
              .flush();
      }),
    );
    await plot(page, 'train/a').hover({ position: { x: 200, y: 60 } });
    await soon(async () => {
      const rows = await page
        .locator('.tip tbody .name')
        .evaluateAll((all) => all.map((cell) => [cell.innerText, cell.scrollWidth <= cell.clientWidth]));
      assert.ok(rows.length > 2);
      for (const [text, isWhole] of rows) assert.ok(isWhole && /seed\d$/.test(text), text);
    });
  },

  async 'cards of single runs keep what tells the runs apart, among sixty of them too'(keep) {
    const page = keep(
      await fresh((logdir) => {
        for (let r = 0; r < 60; r++)
          new RunWriter(logdir, `sweep-of-optimizers/warmup-${100 + r}-cosine-schedule`, Date.now() / 1000 - DAY)
            .scalars(0, { loss: r })
            .texts(0, { note: `run ${r}` })
            .flush();
      }),
    );
    await page.evaluate(() => (location.hash = '#text'));
    await soon(async () => {
      const names = await page
        .locator('.slot .card header .run bdi')
        .evaluateAll((all) => all.slice(0, 3).map((name) => name.textContent));
      assert.deepEqual(names, ['…100…', '…101…', '…102…']);
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
        return [
          {
            text: part.textContent,
            endIsSeen: isIn && all.right <= own.right + 1,
          },
        ];
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
    // it has the room of the actions until they are wanted; what can be clicked is never behind them
    const keras = card(page, 'epoch_learning_rate');
    await page.evaluate(() => (location.hash = '#timeseries&tags=epoch|weight0[0-4]&row=3'));
    await page.mouse.move(0, 0);
    const isCut = () =>
      keras
        .locator('h3')
        .evaluate((title) => [...title.children].some((part) => part.scrollWidth > part.clientWidth + 1));
    await soon(async () => assert.equal(await isCut(), false));
    await keras.hover();
    const right = async (what) => {
      const box = await keras.locator(what).first().boundingBox();
      return [box.x, box.x + box.width];
    };
    await soon(async () => assert.ok((await right('.chip'))[1] <= (await right('.actions'))[0]));
  },
};
