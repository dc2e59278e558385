// Cards of other dashboards on the time series page.
import assert from 'node:assert/strict';
import { address, open, soon } from './harness.mjs';
import { card, made } from './histograms.mjs';

export default {
  async 'histograms are cards of the time series, and the kinds of cards are chosen'(keep) {
    const { server } = await made();
    const asked = [];
    const page = keep(
      await open(server, '#timeseries&v=1', { before: (p) => p.on('request', (r) => asked.push(r.url())) }),
    );
    await soon(async () => assert.equal(await page.locator('[data-tag="loss"]').count(), 1));
    const grad = card(page, 'vit-b16', 'attn/qkv.grad');
    await grad.locator('.figure[data-drawn]').waitFor();
    await page.getByRole('button', { name: /^Cards:/ }).click();
    await page.locator('[role^=menuitem]', { hasText: 'Histograms' }).click();
    await soon(async () => assert.equal(await grad.count(), 0));
    await soon(async () => assert.match(await address(page), /ts\.kinds=scalars/));
    await page.keyboard.press('Control+z');
    await grad.locator('.figure[data-drawn]').waitFor();
    // full size, pins and the way they are drawn are those of their own tab
    await page.getByRole('button', { name: 'View ▾' }).click();
    await page.getByLabel('How histograms are drawn').selectOption('heat');
    await soon(async () => assert.match(await address(page), /hist\.mode=heat/));
    await page.keyboard.press('Escape');
    await grad.hover();
    await page.keyboard.press('p');
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /pins=!histograms!vit-b16!!attn/));
    await page.keyboard.press('f');
    await page.waitForSelector('dialog[open] .figure[data-drawn]');
    await page.keyboard.press('Escape');
    // a page without histograms loads nothing of them
    assert.ok(asked.some((url) => /histograms\/grids/.test(url)));
  },
};
