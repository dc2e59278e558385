// The first page as somebody finds it who has never seen it: rooms and rows at every width, short windows, phones, and where
// tooltips stand.
// Which test is for which point: docs/design/parity.md, "The first page, as a newcomer finds it".
import assert from 'node:assert/strict';
import { transformer } from './graphs.mjs';
import { card, openCharts, serve, soon, until } from './harness.mjs';
import { RunWriter } from './logs.mjs';
import { DAY, fresh, plot } from './newcomer.mjs';
import { kineto, writeTrace } from './profiles.mjs';

export default {
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

  async 'on a phone a tapped tooltip leaves the title of its card in sight'(keep) {
    const page = keep(
      await openCharts('demo', '', { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true }),
    );
    const chart = card(page, 'train/loss');
    const whole = await chart.boundingBox();
    const title = await chart.locator('header').boundingBox();
    const inner = await chart.locator('.plot-clip').boundingBox();
    for (const part of [0.1, 0.35, 0.5, 0.65, 0.9]) {
      const y = inner.y + inner.height * part;
      await page.touchscreen.tap(inner.x + inner.width / 2, y);
      await soon(async () => {
        const tip = await page.locator('.tip').boundingBox();
        const where = `${part}: ${tip.y} to ${tip.y + tip.height}, title to ${title.y + title.height}`;
        assert.ok(tip.y >= title.y + title.height - 4, where);
        assert.ok(tip.y + tip.height <= whole.y + whole.height + 12, `${where}, card to ${whole.y + whole.height}`);
      });
    }
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

  async 'bands of runs that share no folder begin with seeds together, not with groups of one'(keep) {
    const page = keep(
      await fresh((logdir) => {
        for (let r = 0; r < 30; r++) {
          const run = new RunWriter(logdir, `sweep-${String(r).padStart(4, '0')}`, Date.now() / 1000 - DAY);
          for (let step = 0; step < 5; step++) run.scalars(step, { loss: 5 - step + r / 30 });
          run.flush();
        }
      }),
    );
    await page.getByRole('button', { name: 'Bands: none' }).click();
    await page.getByText('Runs will be grouped by setting, seeds together').waitFor();
    await page.getByRole('menuitemcheckbox', { name: /min to max/ }).click();
    await page.getByText('One setting with 30 seeds, by the number at the end of names').waitFor();
    await page.getByText('30 runs in one group').waitFor();
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
