// Cards of time series: ranges and scales of axes, tooltip, smoothing of one card, several tags in one chart, attempts,
// baseline, descriptions, pins.
import assert from 'node:assert/strict';
import { AxeBuilder, card, openCharts, shot, until } from './harness.mjs';

const plot = (page, tag) => card(page, tag).locator('.plot');
const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));
const inHash = (page, text) => until(`${text} in the address`, async () => (await hash(page)).includes(text));
async function clean(page, what) {
  const found = await new AxeBuilder({ page }).analyze();
  assert.deepEqual(found.violations.map((v) => `${what}: ${v.id} ${v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`), []);
}
const axis = (page, tag, which) => card(page, tag).getByRole('button', { name: which === 'x' ? 'Horizontal axis' : 'Vertical axis' });

export default {
  async 'a click on an axis opens its form: a typed range and a scale are kept in the address'(keep) {
    const page = keep(await openCharts('demo'));
    await axis(page, 'train/loss', 'y').click();
    const form = page.getByRole('dialog', { name: 'Vertical axis' });
    await form.getByLabel('from').fill('5');
    await form.getByLabel('to').fill('1');
    await form.getByRole('button', { name: 'Set' }).click();
    assert.match(await form.getByRole('alert').innerText(), /less than/);
    await form.getByLabel('from').fill('nothing');
    await form.getByRole('button', { name: 'Set' }).click();
    assert.match(await form.getByRole('alert').innerText(), /numbers/);
    await clean(page, 'axis form');
    await shot(page, 'axis-form');
    await form.getByLabel('from').fill('0.25');
    await form.getByLabel('to').fill('1.5');
    await page.keyboard.press('Enter');
    await inHash(page, 'zoom=|0.25~1.5|train/loss');
    assert.equal(await form.count(), 0);
    await axis(page, 'train/loss', 'x').focus();
    await page.keyboard.press('Enter');
    const x = page.getByRole('dialog', { name: 'Horizontal axis' });
    await x.getByLabel('from').fill('500');
    await x.getByLabel('to').fill('2k');
    await page.keyboard.press('Enter');
    await inHash(page, 'zoom=500~2000|0.25~1.5|train/loss');
    await axis(page, 'train/loss', 'y').click();
    await form.getByRole('radio', { name: 'symlog', exact: true }).click();
    await inHash(page, 'symlogy=train/loss');
    await form.getByRole('button', { name: 'Fit to the data' }).click();
    await inHash(page, 'zoom=500~2000||train/loss');
    await axis(page, 'train/loss', 'y').click();
    await page.keyboard.press('Escape');
    await until('closed by Escape', async () => (await form.count()) === 0);
    assert.ok(await axis(page, 'train/loss', 'y').evaluate((b) => b === document.activeElement));
  },

  async 'ranges of time are typed as times'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&x=relative'));
    await axis(page, 'train/loss', 'x').click();
    const form = page.getByRole('dialog', { name: 'Horizontal axis' });
    await form.getByLabel('from').fill('30 min');
    await form.getByLabel('to').fill('1 h 30 min');
    await page.keyboard.press('Enter');
    await inHash(page, 'zoom=1800~5400||train/loss');
  },

  async 'symlog and log are drawn on both axes, in every place a card is'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&symlogy=train/loss&logy=val/loss&xscale=symlog&full=train/loss'));
    await page.waitForSelector('dialog[open] .plot[data-painted="9"]');
    await shot(page, 'symlog-full');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.slot .plot[data-painted="9"]');
    await shot(page, 'symlog');
  },
};
