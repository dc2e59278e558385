// Cards of other dashboards on the time series page.
import assert from 'node:assert/strict';
import { address, axe, open, shot, soon } from './harness.mjs';
import { card, made, pixels, rows } from './histograms.mjs';
import { RunWriter } from './logs.mjs';
import { cardOf, middle, servedLog, START } from './media.mjs';
import { plain } from './pictures.mjs';

const STEPS = [0, 100, 200, 300, 400];
/** Two runs with scalars, pictures (two a step; red is the run, green the step, blue the sample) and histograms. */
function mixed(logdir) {
  ['a', 'b'].forEach((name, r) => {
    const run = new RunWriter(logdir, name, START + r);
    for (const step of STEPS)
      run
        .scalars(step, { 'val/loss': 1 / (step + 1) })
        .images(step, { 'val/samples': [0, 1].map((k) => plain([100 * r, step / 4, 100 * k], 64, 48)) })
        .histograms(step, { 'val/weights': rows([[step / 100, 1]]) });
    run.flush();
  });
}
const image = (page, run) => cardOf(page, 'images', run, 'val/samples');
const shows = (page, run, step, sample = 0) =>
  soon(async () =>
    assert.deepEqual(await middle(image(page, run).locator('.stage img')), [
      run === 'a' ? 0 : 100,
      step / 4,
      100 * sample,
    ]),
  );
const openView = (page) => page.getByRole('button', { name: 'View ▾' }).click();

export default {
  async 'histograms are cards of the time series, and the kinds of cards are chosen'(keep) {
    const { server } = await made();
    const asked = [];
    const page = keep(
      await open(server, '#timeseries&v=1', {
        viewport: { width: 1440, height: 2400 }, // all groups are in sight
        before: (p) => p.on('request', (r) => asked.push(r.url())),
      }),
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
    await soon(async () => assert.equal(await page.locator('dialog[open]').count(), 0));
    await grad.hover();
    await grad.getByRole('button', { name: 'More' }).click();
    await page.locator('[role^=menuitem]', { hasText: 'Full width' }).click();
    await soon(async () => assert.ok((await grad.boundingBox()).width > 900));
    // a page without histograms loads nothing of them
    assert.ok(asked.some((url) => /histograms\/grids/.test(url)));
  },

  async 'images are cards of the time series: slider, samples, pin, full size, menu'(keep) {
    const { server } = await servedLog(mixed);
    const page = keep(await open(server, '#timeseries&v=1'));
    await shows(page, 'a', 400);
    await shows(page, 'b', 400);
    await shot(page, 'kinds-images');
    const one = image(page, 'a');
    await soon(async () => assert.match(await one.locator('h3').getAttribute('title'), /a · val\/samples/));
    await one.locator('input[type=range]').fill('1');
    await shows(page, 'a', 100);
    await shows(page, 'b', 400); // the other one stays
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /at=100\|!images!a!!val\/samples/));
    await one.getByRole('button', { name: 'Next sample' }).click();
    await shows(page, 'a', 100, 1);
    await soon(async () => assert.match(await one.locator('footer').innerText(), /2 of 5.*sample 2 of 2/s));
    await one.hover();
    await page.keyboard.press('p');
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /pins=!images!a!!val/));
    await soon(async () => assert.equal(await page.locator('[data-tag="!images!a!!val/samples"]').count(), 2));
    await page.keyboard.press('f');
    const full = page.getByRole('dialog', { name: /a · val\/samples/ });
    await full.locator('.stage img').waitFor();
    await soon(async () => assert.deepEqual(await middle(full.locator('.stage img')), [0, 25, 100]));
    await page.keyboard.press('Escape');
    await soon(async () => assert.equal(await page.locator('dialog[open]').count(), 0));
    await one.getByRole('button', { name: 'More' }).click();
    await page
      .getByRole('menuitem', { name: 'Full width' })
      .or(page.getByRole('menuitemcheckbox', { name: 'Full width' }))
      .click();
    await soon(async () => assert.ok((await one.boundingBox()).width > 900));
    // another person sees the same
    const again = keep(await open(server, await address(page)));
    await shows(again, 'a', 100, 1);
    // kinds of cards: images alone
    await page.getByRole('button', { name: /^Cards:/ }).click();
    await page.locator('[role^=menuitem]', { hasText: 'Scalars' }).click();
    await soon(async () => assert.equal(await page.locator('[data-tag="val/loss"]').count(), 0));
    await shows(page, 'a', 100, 1);
  },

  async 'the View form of the time series has brightness, contrast and size of images, with reset'(keep) {
    const { server } = await servedLog(mixed);
    const page = keep(await open(server, '#timeseries&v=1'));
    await shows(page, 'a', 400);
    const picture = image(page, 'a').locator('.stage img');
    const filter = () => picture.evaluate((img) => getComputedStyle(img).filter);
    await openView(page);
    await page.getByRole('slider', { name: 'Brightness' }).fill('1.5');
    await page.getByRole('slider', { name: 'Contrast' }).fill('3');
    await soon(async () => assert.equal(await filter(), 'brightness(1.5) contrast(3)'));
    await axe(page, 'the View form of the time series with images', '[role=dialog]');
    await shot(page, 'kinds-view-form');
    await page.getByRole('button', { name: 'Reset: Brightness' }).click();
    await page.getByRole('button', { name: 'Reset: Contrast' }).click();
    await soon(async () => assert.equal(await filter(), 'none'));
    await page.getByLabel('Pictures at actual size').check();
    await soon(async () => assert.equal((await picture.boundingBox()).width, 64));
    await page.getByLabel('One card per sample').check();
    await soon(async () => assert.equal(await page.locator('[data-tag^="!images!a!"]').count(), 2));
    await page.keyboard.press('Escape');
    await soon(async () => assert.match(await address(page), /img\.actual=on/));
  },

  async 'a linked step of the scalars is that of images and histograms, and a click on a histogram that of all'(keep) {
    const { server } = await servedLog(mixed);
    const page = keep(await open(server, '#timeseries&v=1&link=on&select=step&at=210|'));
    await shows(page, 'a', 200);
    await shows(page, 'b', 200);
    await soon(async () => assert.match(await image(page, 'a').locator('footer').innerText(), /nearest step/));
    // a histogram has the step marked, and says so too
    const first = card(page, 'a', 'val/weights');
    await soon(async () => assert.match(await first.locator('footer').innerText(), /nearest step/));
    await soon(async () => assert.ok((await pixels(first.locator('.figure'), 1)).data.some((v) => v > 0)));
    await image(page, 'b').locator('input[type=range]').fill('3');
    for (const run of ['a', 'b']) await shows(page, run, 300);
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /at=300\|/));
    // by the keyboard in a card of histograms: two steps before the newest
    const weights = card(page, 'a', 'val/weights');
    await weights.locator('.figure').focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await soon(async () => assert.match(await weights.locator('[aria-live]').innerText(), /^Step \d+/));
    await page.keyboard.press('Enter');
    const at = async () => Number(/at=(\d+)\|/.exec(decodeURIComponent(await address(page)))?.[1]);
    await soon(async () => assert.notEqual(await at(), 300));
    for (const run of ['a', 'b']) await shows(page, run, await at());
    // a range greys the steps of histograms outside of it and leaves the picture inside
    const range = keep(await open(server, '#timeseries&v=1&link=on&select=range&at=100~200|'));
    await shows(range, 'a', 200);
    // and its slider tells which of the pictures are within
    const ends = () =>
      image(range, 'a')
        .locator('input[type=range]')
        .evaluate(({ style }) => ['--from', '--to'].map((name) => style.getPropertyValue(name)));
    await soon(async () => assert.deepEqual(await ends(), ['0.25', '0.5']));
    await card(range, 'a', 'val/weights').locator('.figure[data-drawn]').waitFor();
  },

  async 'cards of images and histograms go with their run, and come back with it'(keep) {
    const { server } = await servedLog(mixed);
    const page = keep(await open(server, '#timeseries&v=1'));
    const cards = () =>
      page.locator('.slot .card').evaluateAll((all) => all.map((one) => one.dataset.tag.replace(/!val.*/, '')).sort());
    const ofAll = ['!histograms!a!', '!histograms!b!', '!images!a!', '!images!b!', 'val/loss'];
    await soon(async () => assert.deepEqual(await cards(), ofAll));
    const swatch = page.locator('[data-run="a"] .swatch, [data-run="a"] [role=checkbox]').first();
    await swatch.click();
    await soon(async () =>
      assert.deepEqual(
        await cards(),
        ofAll.filter((card) => !card.includes('!a!')),
      ),
    );
    await swatch.click();
    await soon(async () => assert.deepEqual(await cards(), ofAll));
  },
};
