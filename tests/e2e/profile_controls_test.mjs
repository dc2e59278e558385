// Profiles: the controls of the pages beside the timeline, and those that tie the pages together; all pages under axe.
import assert from 'node:assert/strict';
import { address, axe, open, soon } from './harness.mjs';
import { details, downloaded, made, openProfile, openTimeline, painted, tab } from './profile_page.mjs';
import { kineto, odd, writeTrace } from './profiles.mjs';

const table = (page, name) => page.getByRole('table', { name, exact: true });
/** The text of a row of a table, 1 is the first below the head. */
const rowText = async (page, name, n) =>
  (await table(page, name).getByRole('row').nth(n).innerText()).replace(/\s+/g, ' ');
const head = (page, name, column) => table(page, name).getByRole('columnheader', { name: column });
/** Fills the field for slices, and goes to the first that is found. */
async function goToSlice(page, name) {
  await page.getByRole('searchbox', { name: 'Find a slice' }).fill(name);
  await soon(async () => assert.match(await page.locator('[role=toolbar]').innerText(), /0 of \d/));
  await page.keyboard.press('Enter');
  await soon(async () => assert.ok((await details(page).innerText()).includes(name)));
}

export default {
  async 'operators are sorted by total time and by calls, on either side, and split by shape'(keep) {
    const page = keep(await openProfile(await made()));
    await tab(page, 'Operators').click();
    // with a device the table begins with its time: the kernels belong to aten::addmm, inside aten::linear
    await soon(async () => assert.match(await rowText(page, 'Operators', 1), /^aten::addmm 14\.000 100\.0\s%/));
    await head(page, 'Operators', /Device total/)
      .getByRole('button')
      .click();
    await soon(async () => assert.match(await rowText(page, 'Operators', 1), /^ProfilerStep\*/));
    await soon(async () =>
      assert.equal(await head(page, 'Operators', /Device total/).getAttribute('aria-sort'), 'descending'),
    );
    await tab(page, 'Host').click();
    // 4 steps of 9.9 ms
    await soon(async () => assert.match(await rowText(page, 'Operators', 1), /^ProfilerStep\* .* 39\.600 4 /));
    await head(page, 'Operators', 'Calls').getByRole('button').click();
    await soon(async () => assert.match(await rowText(page, 'Operators', 1), /^aten::(linear|addmm) .* 20 /));
    await tab(page, 'name and shape').click();
    await soon(async () => assert.match(await table(page, 'Operators').innerText(), /\[\[8, ?64\], ?\[64, ?64\]\]/));
  },

  async 'kernels are sorted by any of their times'(keep) {
    const trace = kineto();
    const at = {
      ph: 'X',
      cat: 'kernel',
      pid: 0,
      tid: 7,
      dur: 5,
      args: { device: 0, stream: 7 },
    };
    trace.traceEvents.push({ ...at, name: 'tiny', ts: 9000 });
    const page = keep(await openProfile(await made((logdir) => writeTrace(logdir, 'vit', 'host_1', trace))));
    await tab(page, 'Kernels').click();
    for (const column of ['Min', 'Mean', 'Max', 'Total', 'Calls']) {
      await head(page, 'Kernels', new RegExp(`^${column}`))
        .getByRole('button')
        .click();
      await soon(async () => assert.match(await rowText(page, 'Kernels', 1), /^gemm/));
      await head(page, 'Kernels', new RegExp(`^${column}`))
        .getByRole('button')
        .click();
      await soon(async () => assert.match(await rowText(page, 'Kernels', 1), /^tiny/));
    }
    await page.getByRole('searchbox', { name: 'Find a kernel' }).fill('tiny');
    await soon(async () => assert.equal(await table(page, 'Kernels').getByRole('row').count(), 2));
  },

  async 'the names of kernels stay in sight while their table is scrolled sideways'(keep) {
    const page = keep(await openProfile(await made()));
    await tab(page, 'Kernels').click();
    const cell = (at) => table(page, 'Kernels').getByRole('row').nth(1).getByRole('cell').nth(at);
    const left = async (at) => (await cell(at).boundingBox()).x;
    await soon(async () => assert.match(await cell(0).innerText(), /gemm/));
    const [name, total] = [await left(0), await left(1)];
    await table(page, 'Kernels').evaluate((box) => (box.scrollLeft = 150));
    await soon(async () => assert.equal(total - (await left(1)), 150));
    assert.equal(await left(0), name);
    const isOnTop = await cell(0).evaluate((one) => {
      const { x, y } = one.getBoundingClientRect();
      return one.contains(document.elementFromPoint(x + 20, y + 10));
    });
    assert.ok(isOnTop, 'the name covers what is scrolled below it');
  },

  async 'no strip of runs stands beside the captures, and the runs are shown by key'(keep) {
    const page = keep(await openProfile(await made()));
    const captures = page.getByRole('listbox', { name: 'Captures' });
    await captures.waitFor();
    assert.equal(await page.locator('.strip').count(), 0);
    await page.keyboard.press('[');
    await soon(async () => assert.equal(await captures.count(), 0));
    assert.equal(await page.locator('.strip').count(), 0);
    await page.keyboard.press('[');
    await captures.waitFor();
    await page.keyboard.press('r');
    await soon(async () => assert.ok(await page.evaluate(() => document.activeElement.id === 'run-filter')));
    await page.keyboard.press('Escape');
    await page.keyboard.press('\\');
    await captures.waitFor();
  },

  async 'on a phone the times of operators are in sight'(keep) {
    const page = keep(
      await open(await made(), '#profile&v=1&profile.page=operators', {
        viewport: { width: 390, height: 844 },
        hasTouch: true,
        isMobile: true,
      }),
    );
    for (const column of [/Device self/, /Share of self/])
      await soon(async () => {
        const box = await head(page, 'Operators', column).boundingBox();
        assert.ok(box && box.x + box.width <= 390, `${column} ends at ${box && box.x + box.width}`);
      });
  },

  async 'slices of any name are taken as the steps, and the steps are found again'(keep) {
    const page = keep(await openTimeline(await made()));
    const steps = page.locator('.left').filter({ hasText: 'Steps' });
    await soon(async () => assert.match(await steps.innerText(), /4 · /));
    await goToSlice(page, 'aten::linear');
    await details(page).getByRole('button', { name: 'Take as step' }).click();
    await soon(async () => assert.match(await steps.innerText(), /20 · /));
    await soon(async () => assert.match(await address(page), /profile\.steps=aten/));
    await tab(page, 'Overview').click();
    await soon(async () => assert.match(await page.locator('.verdict').innerText(), /Steps\n20/i));
    await page.getByRole('button', { name: 'Find steps again' }).click();
    await soon(async () => assert.match(await page.locator('.verdict').innerText(), /Steps\n4\n/i));
    await soon(async () => assert.doesNotMatch(await address(page), /profile\.steps/));
  },

  async 'what is held at the peak of memory adds up, and the peak is shown in the timeline'(keep) {
    const page = keep(await openProfile(await made()));
    await tab(page, 'Memory').click();
    // four allocations of a megabyte, and one from before the capture
    await soon(async () => assert.match(await rowText(page, 'At the peak', 1), /^aten::addmm 4 4\.0 MB/));
    await soon(async () => assert.match(await rowText(page, 'At the peak', 2), /before the capture – 1\.0 MB/));
    await page.locator('.bar').getByRole('button', { name: 'Timeline' }).click();
    await painted(page);
    await soon(async () => assert.match(await address(page), /profile\.window=/));
  },

  async 'without steps the page of input says no share'(keep) {
    const page = keep(await openProfile(await made((logdir) => writeTrace(logdir, 'odd', 'host_1', odd()))));
    await tab(page, 'Input').click();
    await soon(async () => assert.match(await page.locator('.said').innerText(), /does not tell/));
    assert.doesNotMatch(await page.getByRole('region', { name: 'Input pipeline' }).innerText(), /%/);
  },

  async 'a wait of a rank is titled with the rank and the unit'(keep) {
    const server = await made((logdir) => {
      for (const rank of [0, 1]) writeTrace(logdir, 'ddp', `rank${rank}`, kineto({ rank, ranks: 2 }));
    });
    const page = keep(await openProfile(server));
    await tab(page, 'Distributed').click();
    for (const rank of [0, 1]) await head(page, 'Collectives', new RegExp(`^Wait of rank ${rank}, (ms|µs)$`)).waitFor();
  },

  async 'flows are chosen, results are gone through backwards, and a slice is closed'(keep) {
    const page = keep(await openTimeline(await made()));
    await page.getByRole('button', { name: 'Flows' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'none' }).click();
    await soon(async () => assert.match(await address(page), /profile\.flows=none/));
    await goToSlice(page, 'gemm_128x128_nn');
    await page.getByRole('button', { name: 'Next slice found' }).click();
    await soon(async () => assert.match(await page.locator('[role=toolbar]').innerText(), /2 of 12/));
    await page.getByRole('button', { name: 'Previous slice found' }).click();
    await soon(async () => assert.match(await page.locator('[role=toolbar]').innerText(), /1 of 12/));
    await details(page).getByRole('button', { name: 'Close' }).click();
    await soon(async () => assert.equal(await details(page).count(), 0));
  },

  async 'tables are saved from the menu of every page'(keep) {
    const page = keep(await openProfile(await made()));
    await page.locator('.verdict').waitFor(); // before that the capture is being read, and there is nothing to save
    for (const [item, text] of [
      ['Operators', /aten::addmm/],
      ['Kernels', /gemm_128x128_nn/],
      ['Steps', /ProfilerStep#103/],
      ['Memory', /aten::addmm/],
    ]) {
      const saved = await downloaded(page, async () => {
        await page.getByRole('button', { name: 'Export' }).click();
        await page
          .getByRole('menuitem', {
            name: new RegExp(`CSV.*${item}|${item}.*CSV`, 'i'),
          })
          .click();
      });
      assert.match(saved.text, text);
    }
  },

  async 'kernels, input, modules and the comparison are accessible, in both languages and themes'(keep) {
    const server = await made((logdir) => {
      writeTrace(logdir, 'before', 'host_1', kineto({ modules: true }));
      writeTrace(logdir, 'after', 'host_1', kineto({ slow: 1.2, modules: true }));
    });
    for (const [locale, colorScheme] of [
      ['en-GB', 'light'],
      ['zh-CN', 'dark'],
    ]) {
      const page = keep(
        await openProfile(server, '#profile&v=1', {
          locale,
          colorScheme,
        }),
      );
      const tabs = page
        .getByRole('radiogroup', {
          name: /Pages of the profile|性能分析页面/,
        })
        .getByRole('radio');
      for (const i of [3, 5, 6, 8]) {
        await tabs.nth(i).click();
        if (i === 8) await page.locator('label select').selectOption({ index: 1 });
        await page.getByRole('table').first().waitFor();
        await axe(page, `${locale} page ${i}`);
      }
    }
  },
};
