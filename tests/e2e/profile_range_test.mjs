// Profiles: the sums of a selected range, and what is saved and compared: that it is what the page shows.
import assert from 'node:assert/strict';
import { address, soon } from './harness.mjs';
import { downloaded, made, openProfile, openTimeline, range, row, tab } from './profile_page.mjs';
import { kineto, writeTrace } from './profiles.mjs';

const first = async (table) => (await table.getByRole('row').nth(1).innerText()).replace(/\s+/g, ' ');
async function openRange(server, options) {
  const page = await openTimeline(server, undefined, options);
  await page.locator('.scroller').focus();
  await page.keyboard.press('m');
  return page;
}

export default {
  async 'the sums of a range are sorted by any column, up and down, and a reload keeps that'(keep) {
    const page = keep(await openRange(await made()));
    const table = range(page).getByRole('table', { name: 'Selected range' });
    const head = (name) => table.getByRole('columnheader', { name });
    await soon(async () => assert.match(await first(table), /^ProfilerStep#10\d 1 9\.900/));
    await soon(async () => assert.equal(await head(/^Total/).getAttribute('aria-sort'), 'descending'));
    await head(/^Count/)
      .getByRole('button')
      .click();
    await soon(async () => assert.match(await first(table), /^\S+ 20 /));
    await head(/^Count/)
      .getByRole('button')
      .click();
    await soon(async () => assert.match(await first(table), /^ProfilerStep#10\d 1 /));
    await soon(async () => assert.equal(await head(/^Count/).getAttribute('aria-sort'), 'ascending'));
    for (const [by, name] of [
      ['mean', /^ProfilerStep#10\d 1 /],
      ['self', /^gemm_128x128_nn 12 8\.4/],
    ]) {
      await head(new RegExp(`^${by}`, 'i'))
        .getByRole('button')
        .click();
      await soon(async () => assert.match(await first(table), name));
    }
    await soon(async () => assert.match(await address(page), /profile\.totals\.sort=-self/));
    await page.reload();
    await soon(async () => assert.match(await first(table), /^gemm_128x128_nn 12 8\.4/));
    await soon(async () => assert.equal(await head(/^Self/).getAttribute('aria-sort'), 'descending'));
  },

  async 'only pinned tracks are summed where the viewer wants that, in the language of the page'(keep) {
    const server = await made();
    const page = keep(await openRange(server, { locale: 'zh-CN' }));
    const sums = page.getByRole('region', { name: '所选范围' });
    await soon(async () => assert.match(await sums.innerText(), /aten::linear/));
    await row(page, '空闲').hover();
    await row(page, '空闲').getByRole('button').click();
    await sums.getByRole('checkbox', { name: '仅固定的轨道' }).check();
    await soon(async () => assert.doesNotMatch(await sums.innerText(), /aten::linear/));
    await soon(async () => assert.match(await first(sums), /^空闲：/));
    assert.doesNotMatch(await sums.innerText(), /idle/);
    await address(page);
    await page.reload();
    await soon(async () => assert.match(await first(sums), /^空闲：/));
    assert.ok(await sums.getByRole('checkbox').isChecked());
    // the name finds the gaps, which the server calls by their English names
    await sums.getByRole('row').nth(1).getByRole('button').click();
    await soon(async () => assert.match(await page.locator('[role=toolbar]').innerText(), /共 \d+ 个/));
  },

  async 'the selected range is saved as a Chrome trace'(keep) {
    // the first of four steps
    const page = keep(
      await openTimeline(await made(), '#profile&v=1&profile.page=timeline&profile.range=0~9900000000'),
    );
    await range(page).waitFor();
    const { text } = await downloaded(page, async () => {
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByRole('menuitem', { name: 'Chrome trace of the selected range' }).click();
    });
    const slices = JSON.parse(text).traceEvents.filter(({ ph }) => ph === 'X');
    assert.equal(slices.filter(({ name }) => name === 'aten::addmm').length, 5);
  },

  async 'steps are saved from the menu as the page shows them: those of the chosen name'(keep) {
    const page = keep(await openProfile(await made(), '#profile&v=1&profile.steps=aten%3A%3Alinear'));
    await soon(async () => assert.match(await page.locator('.verdict').innerText(), /Steps\n20/i));
    const { text } = await downloaded(page, async () => {
      await page.getByRole('button', { name: 'Export' }).click();
      await page.getByRole('menuitem', { name: 'Steps as CSV' }).click();
    });
    assert.equal(text.trim().split('\n').length, 21);
  },

  async 'captures of the same name are told by their times where one is chosen to compare with'(keep) {
    const start = 1_794_737_000;
    const server = await made((logdir) => {
      for (const i of [0, 1, 2]) writeTrace(logdir, 'vit', 'host_1', kineto(), { seconds: start + i * 3600 });
    });
    const page = keep(await openProfile(server));
    await tab(page, 'Compare').click();
    const choose = page.getByRole('combobox', { name: 'Compare with' });
    const texts = () => choose.locator('option').allInnerTexts();
    await soon(async () => assert.equal((await texts()).length, 3));
    const names = (await texts()).slice(1);
    assert.ok(
      names.every((name) => /^vit · host_1 · 2026-11-\d\d \d\d:\d\d:\d\d$/.test(name)),
      names.join(),
    );
    assert.equal(new Set(names).size, 2);
    await choose.selectOption({ index: 1 });
    const cards = page.getByRole('region', { name: /^[AB] · host_1$/ }).locator('.about');
    await soon(async () => assert.match((await cards.allInnerTexts()).join('|'), /2026-11-.*\|.*2026-11-/));
  },
};
