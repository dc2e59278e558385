// Images: cards, steps, samples, size, brightness and contrast, linked time, grids, comparison, animations, live, both
// languages and themes, and everything broken or far too large that a log may hold.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { address, axe, diskIsGone, drawn, open, serve, shot, soon, until } from './harness.mjs';
import { RunWriter } from './logs.mjs';
import { cardOf, middle, servedLog, START } from './media.mjs';
import { AVIF, bmp, gif, JPEG, plain, png, scene, WEBP, widePng } from './pictures.mjs';

const iso = (wall) => new Date(wall * 1000).toISOString();
const STEPS = [0, 1000, 5000, 20000, 60000, 84000];
const RUNS = [
  ['unet-l', 84000],
  ['unet-s', 84000],
  ['unet-bf16', 60000],
];
/** The colour of a picture says which it is: red is the run, green the step, blue the sample. */
const colourOf = (run, step, sample) => [40 + 60 * run, 30 * STEPS.indexOf(step), 100 * sample];
function write(logdir) {
  const runs = {};
  RUNS.forEach(([name, last], r) => {
    const run = new RunWriter(logdir, name, START);
    for (const step of STEPS.filter((s) => s <= last))
      run
        .images(step, {
          'val/samples': [0, 1, 2].map((k) => plain(colourOf(r, step, k), 64, 48)),
          'val/scene': scene(96, 64, 0.3 + 0.1 * STEPS.indexOf(step), r),
        })
        .scalars(step, { loss: 1 / (step + 1) });
    runs[name] = run.flush();
  });
  return runs;
}
const made = (fill = write) => servedLog(fill);
const READY = '.card .stage img';
async function openImages(server, hash = '#images&v=1', options = {}) {
  const page = await open(server, hash, options);
  await page.waitForSelector(READY);
  await drawn(page);
  return page;
}
const card = (page, run, tag = 'val/samples') => cardOf(page, 'images', run, tag);
const shows = (page, run, step, sample = 0) =>
  soon(async () =>
    assert.deepEqual(
      await middle(card(page, run).locator('.stage img')),
      colourOf(
        RUNS.findIndex(([name]) => name === run),
        step,
        sample,
      ),
    ),
  );

export default {
  async 'a card for every run and tag shows its newest picture, and says which'(keep) {
    const { server } = await made();
    const page = keep(await openImages(server));
    await soon(async () => assert.equal(await page.locator('.slot .card').count(), 6));
    await shows(page, 'unet-l', 84000);
    await shows(page, 'unet-bf16', 60000);
    const one = card(page, 'unet-l');
    await soon(async () => assert.match(await one.locator('footer').innerText(), /6 of 6.*sample 1 of 3.*64 × 48/s));
    await soon(async () => assert.match(await one.locator('.step').inputValue(), /^84\s000$/));
    await soon(async () => assert.match(await page.locator('nav .tab[aria-current]').innerText(), /^Images\s*2$/));
    await shot(page, 'images-cards');
  },

  async 'slider, typed step, arrow keys and undo choose the step, which is in the address'(keep) {
    const { server } = await made();
    const page = keep(await openImages(server));
    const one = card(page, 'unet-l');
    await one.locator('input[type=range]').fill('1');
    await shows(page, 'unet-l', 1000);
    await shows(page, 'unet-s', 84000); // the others stay
    await soon(async () =>
      assert.match(decodeURIComponent(await address(page)), /at=1000\|!images!unet-l!!val\/samples/),
    );
    await one.locator('.step').fill('21000');
    await one.locator('.step').press('Enter');
    await shows(page, 'unet-l', 20000);
    await soon(async () => assert.match(await one.locator('footer').innerText(), /nearest step/));
    await one.locator('.picture[role=group]').focus();
    await soon(async () => assert.match(await address(page), /at=21000/));
    await page.keyboard.press('ArrowLeft');
    await shows(page, 'unet-l', 5000);
    await soon(async () => assert.match(await address(page), /at=5000/));
    await page.keyboard.press('.');
    await shows(page, 'unet-l', 5000, 1);
    await soon(async () => assert.match(await address(page), /img\.sample=/));
    const again = keep(await openImages(server, await address(page)));
    await shows(again, 'unet-l', 5000, 1);
    await page.keyboard.press('Control+z');
    await shows(page, 'unet-l', 5000, 0);
  },

  async 'a slider has a gap for every step where there is room, and none among a hundred'(keep) {
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'run', START);
      for (let step = 0; step < 100; step++)
        run.images(step, { many: plain([step, 2, 2]), ...(step < 4 ? { few: plain([step, 1, 1]) } : {}) });
      run.flush();
    });
    const page = keep(await openImages(server));
    const gaps = (tag) =>
      card(page, 'run', tag)
        .locator('input[type=range]')
        .evaluate((input) => getComputedStyle(input).backgroundImage.match(/gradient/g).length);
    await soon(async () => assert.deepEqual([await gaps('few'), await gaps('many')], [2, 1]));
  },

  async 'sample k of n by its buttons, and a card for each sample'(keep) {
    const { server } = await made();
    const page = keep(await openImages(server));
    const one = card(page, 'unet-s');
    await one.getByRole('button', { name: 'Next sample' }).click();
    await shows(page, 'unet-s', 84000, 1);
    await one.getByRole('button', { name: 'Next sample' }).click();
    await shows(page, 'unet-s', 84000, 2);
    await soon(async () => assert.equal(await one.getByRole('button', { name: 'Next sample' }).isDisabled(), true));
    await soon(async () => assert.match(await one.locator('footer').innerText(), /sample 3 of 3/));
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /img\.sample=2\|/));
    await page.locator('.bar [aria-haspopup=dialog]').click();
    await page.getByLabel('One card per sample').check();
    await soon(async () =>
      assert.equal(await page.locator('[data-tag^="!images!unet-s!"][data-tag*="samples"]').count(), 3),
    );
    const third = page.locator('[data-tag="!images!unet-s!2!val/samples"] .stage img');
    await soon(async () => assert.deepEqual(await middle(third), colourOf(1, 84000, 2)));
  },

  async 'actual size for one card by a click and for all, brightness and contrast with reset'(keep) {
    const { server } = await made();
    const page = keep(await openImages(server));
    const picture = card(page, 'unet-l').locator('.stage img');
    const width = async (of = picture) => (await of.boundingBox()).width;
    await soon(async () => assert.ok((await width()) > 100)); // enlarged to fit
    await picture.click();
    await soon(async () => assert.equal(await width(), 64));
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /img\.turned=/));
    await card(page, 'unet-l').locator('.picture[role=group]').focus();
    await page.keyboard.press('Enter');
    await soon(async () => assert.ok((await width()) > 100));
    await page.keyboard.press('Enter');
    await soon(async () => assert.equal(await width(), 64));
    await page.keyboard.press('a'); // all, and all alike
    await soon(async () => assert.equal(await width(card(page, 'unet-s').locator('.stage img')), 64));
    await soon(async () => assert.equal(await width(), 64));
    await page.keyboard.press('a');
    await soon(async () => assert.ok((await width()) > 100));
    await page.locator('.bar [aria-haspopup=dialog]').click();
    await page.getByRole('slider', { name: 'Brightness' }).fill('1.5');
    await page.getByRole('slider', { name: 'Contrast' }).fill('3');
    const filter = () => picture.evaluate((image) => getComputedStyle(image).filter);
    await soon(async () => assert.equal(await filter(), 'brightness(1.5) contrast(3)'));
    await soon(async () => assert.match(await address(page), /img\.brightness=1\.5.*img\.contrast=3/));
    await soon(async () =>
      assert.equal(await page.getByRole('slider', { name: 'Brightness' }).getAttribute('max'), '2'),
    );
    await soon(async () => assert.equal(await page.getByRole('slider', { name: 'Contrast' }).getAttribute('max'), '5'));
    await page.getByRole('button', { name: 'Reset: Contrast' }).click();
    await soon(async () => assert.equal(await filter(), 'brightness(1.5) contrast(1)'));
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Adjusted' }).click();
    await soon(async () => assert.equal(await filter(), 'none'));
  },

  async 'linked steps move all cards, and follow the selection of the time series'(keep) {
    const { server } = await made();
    const page = keep(await openImages(server));
    await page.getByRole('button', { name: 'Link steps' }).click();
    await card(page, 'unet-l').locator('input[type=range]').fill('2');
    for (const [run] of RUNS) await shows(page, run, 5000);
    const linked = keep(await openImages(server, '#images&link=on&select=step&at=1100|'));
    for (const [run] of RUNS) await shows(linked, run, 1000);
  },

  async 'the master step moves the cards without a step of their own, and play goes through all steps'(keep) {
    const { server } = await made();
    const page = keep(await openImages(server));
    await card(page, 'unet-l').locator('input[type=range]').fill('0');
    await shows(page, 'unet-l', 0);
    const master = page.locator('.bar .master input[type=range]');
    await master.fill('3');
    await shows(page, 'unet-s', 20000);
    await shows(page, 'unet-bf16', 20000);
    await shows(page, 'unet-l', 0); // it has left the master
    await page.getByRole('button', { name: 'Newest' }).click();
    await shows(page, 'unet-s', 84000);
    // a step may be over before anybody looks: the page notes all that the card shows
    const slider = card(page, 'unet-s').locator('input[type=range]');
    await slider.evaluate((one) => {
      globalThis.played = [];
      new MutationObserver(() =>
        globalThis.played.push(one.getAttribute('aria-valuetext').replaceAll(/\D/g, '')),
      ).observe(one, { attributeFilter: ['aria-valuetext'] });
    });
    await page.getByRole('button', { name: 'Play the steps' }).click();
    await soon(async () => assert.deepEqual(await page.evaluate('globalThis.played.map(Number)'), STEPS));
    await page.getByRole('button', { name: 'Play the steps' }).waitFor(); // it ends with the newest
    await shows(page, 'unet-s', 84000);
  },

  async 'filter, pins, full size, J and K, hidden runs work as in the time series'(keep) {
    const { server } = await made();
    const page = keep(await openImages(server));
    await page.locator('#tag-filter').fill('scene');
    await soon(async () => assert.equal(await page.locator('.slot .card').count(), 3));
    await page.locator('#tag-filter').fill('');
    await soon(async () => assert.equal(await page.locator('.slot .card').count(), 6));
    await page.locator('#tag-filter').blur();
    await card(page, 'unet-s').hover();
    await page.keyboard.press('p');
    await soon(async () => assert.equal(await page.locator('.slot .card').count(), 7));
    await page.keyboard.press('f');
    const full = page.getByRole('dialog', {
      name: /unet-s · val\/samples/,
    });
    await full.locator('.stage img').waitFor();
    await soon(async () => assert.equal(await full.getByRole('option').count(), 6)); // the film strip
    await full.getByRole('option', { name: /^1\s000$/ }).click();
    await soon(async () => assert.deepEqual(await middle(full.locator('.stage img')), colourOf(1, 1000, 0)));
    await full.locator('.view').focus();
    await page.keyboard.press('ArrowRight');
    await soon(async () => assert.deepEqual(await middle(full.locator('.stage img')), colourOf(1, 5000, 0)));
    const link = full.getByRole('link', { name: 'Download original' });
    await soon(async () => assert.equal(await link.getAttribute('download'), 'unet-s_val_samples_5000_1.png'));
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    assert.equal(download.suggestedFilename(), 'unet-s_val_samples_5000_1.png');
    assert.deepEqual(readFileSync(await download.path()), plain(colourOf(1, 5000, 0), 64, 48)); // the log's own bytes
    // when it was logged
    await soon(async () =>
      assert.equal(await full.locator('.line [title^="2025-11-13T"]').getAttribute('title'), iso(START + 5000)),
    );
    await shot(page, 'images-full');
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await soon(async () =>
      assert.equal(await page.evaluate(() => document.activeElement.closest('[data-tag]') !== null), true),
    );
    await page.locator('[data-run="unet-s"] .swatch, [data-run="unet-s"] [role=checkbox]').first().click();
    // what was pinned stays
    await soon(async () => assert.equal(await page.locator('.slot [data-tag*="unet-s"]').count(), 1));
    await soon(async () => assert.equal(await page.locator('.slot .card').count(), 5));
  },

  async 'pictures are measured against a reference tag: PSNR under the cells of a grid and beside the two that are compared'(
    keep,
  ) {
    const { server } = await made((logdir) => {
      for (const [run, level] of [
        ['a', 110],
        ['b', 100],
      ]) {
        const pictures = {
          'val/made': plain([level, 100, 100], 32, 32),
          'val/small': plain([level, 1, 1], 16, 16),
        };
        new RunWriter(logdir, run, START)
          .images(1, {
            ...pictures,
            'val/target': plain([100, 100, 100], 32, 32),
          })
          .images(2, pictures)
          .flush();
      }
      new RunWriter(logdir, 'c', START).images(1, { 'val/made': plain([9, 9, 9], 32, 32) }).flush();
    });
    const page = keep(await open(server, '#images&img.mode=grid'));
    const row = (tag, run) =>
      page.locator(`[data-tag="!images!!!val/${tag}"] .row`).filter({ has: page.getByText(run, { exact: true }) });
    const says = (tag, run, pattern) =>
      soon(async () => assert.match((await row(tag, run).locator('small').allInnerTexts()).join('|'), pattern));
    await row('made', 'a').locator('img').first().waitFor();
    await page.getByRole('button', { name: 'Reference ▾' }).click();
    await page.getByRole('combobox', { name: 'Find a tag' }).fill('target');
    await page.keyboard.press('Enter');
    // 10 of 255 in one of three channels, at both steps: the target was logged once
    await says('made', 'a', /^32\.9 dB\|32\.9 dB$/);
    await says('made', 'b', /^equal\|equal$/);
    await says('made', 'c', /^–\|/); // it has no target
    await says('small', 'a', /^other size\|other size$/);
    await says('target', 'a', /^$/); // itself
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /img\.ref=val\/target/));
    const again = keep(await open(server, await address(page)));
    await again.getByText('32.9').first().waitFor();
    // both sides of a comparison have theirs, and change places
    await row('made', 'a').locator('.picture').first().click();
    await row('made', 'b')
      .locator('.picture')
      .first()
      .click({ modifiers: ['Shift'] });
    const drawer = page.getByRole('complementary', { name: 'Compare' });
    const sides = () => drawer.locator('.of').allInnerTexts();
    await soon(async () => assert.match((await sides())[0], /A\s+a\s+32\.9 dB/));
    await soon(async () => assert.match((await sides())[1], /B\s+b\s+equal/));
    await drawer.getByRole('button', { name: 'Swap A and B' }).click();
    await soon(async () => assert.match((await sides())[0], /A\s+b\s+equal/));
    await page.getByRole('button', { name: 'Reference: val/target' }).click();
    await page.getByRole('option', { name: 'none' }).click();
    await soon(async () => assert.equal(await page.locator('.psnr').count(), 0));
  },

  async 'a group can be a grid or cards on its own; a slider that left the master shows where the master is'(keep) {
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'run', START);
      for (const step of [0, 1, 2])
        run.images(step, {
          'val/made': plain([step, 1, 1]),
          'train/made': plain([step, 2, 2]),
        });
      run.flush();
    });
    const page = keep(await openImages(server));
    const grid = (group) => page.locator(`[data-tag="!images!!!${group}/made"]`);
    const layout = page.getByRole('radiogroup', { name: 'Layout of val' });
    await soon(async () => assert.equal(await page.locator('.stage img').count(), 2));
    await layout.getByRole('radio', { name: 'Grid' }).click();
    await soon(async () => assert.equal(await grid('val').locator('.picture img').count(), 3));
    await soon(async () => assert.equal(await page.locator('.stage img').count(), 1));
    await soon(async () => assert.match(await address(page), /img\.groups=val/));
    const again = keep(await open(server, await address(page)));
    await again.locator('[data-tag="!images!!!val/made"] .picture img').first().waitFor();
    // a choice for all makes all alike
    await page.getByRole('radiogroup', { name: 'Layout of images' }).getByRole('radio', { name: 'Cards' }).click();
    await soon(async () => assert.equal(await page.locator('.stage img').count(), 2));
    await soon(async () => assert.doesNotMatch(await address(page), /img\.groups/));
    const one = card(page, 'run', 'val/made');
    const slider = one.locator('input[type=range]');
    const mark = () => slider.evaluate((input) => input.style.getPropertyValue('--mark'));
    await soon(async () => assert.equal(await mark(), ''));
    await slider.fill('0');
    await soon(async () => assert.equal(await mark(), '1')); // the newest, at the right
    await page.locator('.bar .master input[type=range]').fill('1');
    await soon(async () => assert.equal(await mark(), '0.5'));
    await one.hover();
    await one.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Follow the master step' }).click();
    await soon(async () => assert.equal(await mark(), ''));
    await soon(async () => assert.deepEqual(await middle(one.locator('.stage img')), [1, 1, 1]));
  },

  async 'a failure is told on the card; without pictures the page says how to log them'(keep) {
    const { server } = await made();
    const page = keep(
      await open(server, '#images&v=1', {
        allowErrors: true,
        before: diskIsGone('**/api/v1/images'),
      }),
    );
    await page.getByText('the disk is gone').first().waitFor();
    await page.unroute('**/api/v1/images'); // it tries again by itself
    await shows(page, 'unet-l', 84000);
    const empty = keep(await open(await serve('empty'), '#images'));
    await empty.getByText('writer.add_image').waitFor();
    await axe(empty, 'no pictures');
  },

  async 'zoom and pan are shared by all cards, down to single pixels and their values'(keep) {
    const { server } = await made((logdir) => {
      // three cards: each as wide as it is high, so that what is under the pointer can stay there
      for (const run of ['a', 'b', 'c'])
        new RunWriter(logdir, run, START)
          .images(1, {
            pixels: png(16, 16, (x, y) => [x * 10, y * 10, run === 'a' ? 7 : 9]),
          })
          .flush();
    });
    const page = keep(await openImages(server));
    const pictures = page.locator('.stage img');
    await soon(async () => assert.equal(await pictures.count(), 3));
    const before = await pictures.first().boundingBox();
    const at = (x, y) =>
      page.mouse.move(before.x + ((x + 0.5) / 16) * before.width, before.y + ((y + 0.5) / 16) * before.height);
    await at(3, 5);
    await soon(async () => assert.match(await page.locator('.card footer').first().innerText(), /x 3, y 5\s+30 50 7/));
    await page.keyboard.down('Control');
    for (let i = 0; i < 4; i++) await page.mouse.wheel(0, -240);
    await page.keyboard.up('Control');
    await soon(async () => assert.ok((await pictures.first().boundingBox()).width > before.width * 20));
    await soon(async () => assert.ok((await pictures.nth(1).boundingBox()).width > before.width * 20)); // the other one too
    await at(3, 5); // what was under the pointer still is
    await page.mouse.move(before.x + (3.5 / 16) * before.width + 1, before.y + (5.5 / 16) * before.height);
    await soon(async () => assert.match(await page.locator('.card footer').first().innerText(), /x 3, y 5/));
    await soon(async () => assert.match(await address(page), /img\.zoom=/));
    const zoomed = await pictures.first().boundingBox();
    await page.mouse.down();
    await page.mouse.move(before.x + before.width, before.y + before.height, { steps: 5 });
    await page.mouse.up();
    for (const picture of [pictures.first(), pictures.nth(1)])
      await soon(async () => assert.ok((await picture.boundingBox()).y > zoomed.y + before.height / 4));
    // and by the cells of a grid
    const cells = page.locator('.matrix .picture img');
    await page.keyboard.press('v');
    await soon(async () => assert.equal(await cells.count(), 3));
    const isZoomed = (cell) => cell.evaluate((img) => img.clientWidth > 10 * img.parentElement.clientWidth);
    for (const cell of await cells.all()) await soon(async () => assert.ok(await isZoomed(cell)));
    await page.getByRole('button', { name: /×/ }).click();
    for (const cell of await cells.all()) await soon(async () => assert.ok(!(await isZoomed(cell))));
    await page.keyboard.press('v');
    await page.keyboard.press('v');
    await soon(async () => assert.equal((await pictures.first().boundingBox()).width, before.width));
  },

  async 'a short name of a run and the end of a long tag are whole; actions are in their place when pointed at'(keep) {
    const { server } = await made((logdir) => {
      // three in a row, and so many runs that their names are not shortened
      for (let r = 0; r < 60; r++)
        new RunWriter(logdir, `run${r}`, START + r)
          .images(1, {
            'stage/a_rather_long_name_of_a_group/block/attention_of_head_7': plain([r, 1, 1]),
          })
          .flush();
    });
    const page = keep(await openImages(server, '#images&img.row=3'));
    const one = page.locator('.slot .card').first();
    const isWhole = (of) => of.evaluate((e) => e.scrollWidth <= e.clientWidth + 1 && e.clientWidth > 0);
    await soon(async () => assert.equal(await one.locator('.run bdi').innerText(), 'run0'));
    await soon(async () => assert.ok(await isWhole(one.locator('.run > span').first())));
    await soon(async () => assert.equal(await one.locator('h3 .end').innerText(), 'n_of_head_7'));
    await soon(async () => assert.ok(await isWhole(one.locator('h3 .end'))));
    await one.getByRole('button', { name: 'Full size' }).click();
    await page.locator('dialog[open] .stage img').waitFor();
  },

  async 'a grid of runs by steps, nearest steps, ended runs, and the film strip'(keep) {
    const { server } = await made();
    const page = keep(await open(server, '#images&img.mode=grid'));
    const grid = page.locator('[data-tag="!images!!!val/samples"]');
    await grid.locator('.picture img').first().waitFor();
    await soon(async () => assert.equal(await grid.locator('.row').count(), 3));
    await soon(async () => assert.equal(await grid.locator('.picture').count(), 17)); // one run ended before the last step
    await soon(async () => assert.match(await grid.locator('.ended').innerText(), /ends at\s*60\s000/));
    await grid.getByRole('button', { name: 'show last' }).click();
    await soon(async () => assert.equal(await grid.locator('.picture').count(), 18));
    await soon(async () =>
      assert.match(await grid.locator('.row').filter({ hasText: 'unet-bf16' }).innerText(), /at 60\s000/),
    );
    await grid.locator('.picture').first().focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    await soon(async () =>
      assert.match(
        await page.evaluate(() => document.activeElement.getAttribute('aria-label')),
        /unet-l, step 1\s000/i,
      ),
    );
    await page.keyboard.press('Enter');
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /img\.a=1000/));
    await page.getByRole('button', { name: 'Close the comparison' }).click();
    await page.keyboard.press('v');
    await soon(async () => assert.equal(await card(page, 'unet-l').getByRole('option').count(), 6));
    await card(page, 'unet-l')
      .getByRole('option', { name: /^5\s000$/ })
      .click();
    await soon(async () => assert.match(await card(page, 'unet-l').locator('input.step').inputValue(), /^5\s000$/));
    await shot(page, 'images-strip');
  },

  async 'two pictures are compared: swipe, blink, side by side, difference, and what the server measures'(keep) {
    const { server } = await made((logdir) => {
      for (const [run, level] of [
        ['a', 100],
        ['b', 110],
      ])
        new RunWriter(logdir, run, START)
          .images(1, {
            flat: plain([level, 100, 100], 32, 32),
            other: plain([level, 0, 0], 16, 16),
          })
          .images(2, { flat: plain([level + 20, 100, 100], 32, 32) })
          .flush();
    });
    const page = keep(await openImages(server));
    const menu = async (run, tag, entry) => {
      await card(page, run, tag).hover();
      await card(page, run, tag).getByRole('button', { name: 'More' }).click();
      await page.getByRole('menuitem', { name: entry }).click();
    };
    await menu('a', 'flat', 'Compare as A');
    const drawer = page.getByRole('complementary', { name: 'Compare' });
    await soon(async () => assert.match(await drawer.innerText(), /Choose the other picture/));
    await menu('b', 'flat', 'Compare as B');
    // 10 of 255 in one of three channels
    await soon(async () => assert.match(await drawer.locator('dl').innerText(), /32\.9\d*\s*dB/));
    await soon(async () => assert.match(await drawer.locator('dl').innerText(), /SSIM\s+0\.99\d\d/));
    await soon(async () => assert.match(await drawer.locator('dl').innerText(), /3\.33/));
    await soon(async () => assert.match(await drawer.locator('dl').innerText(), /100\s?%/));
    const divider = drawer.getByRole('slider', {
      name: 'Divider between A and B',
    });
    await divider.focus();
    await page.keyboard.press('ArrowLeft');
    await soon(async () => assert.equal(await divider.getAttribute('aria-valuenow'), '48'));
    // A is to be seen at the left of it, B at the right
    const seenParts = () => drawer.locator('.layer').evaluateAll((all) => all.map((layer) => layer.style.clipPath));
    await soon(async () => assert.deepEqual(await seenParts(), ['inset(0px 52% 0px 0px)', 'inset(0px 0px 0px 48%)']));
    const box = await drawer.locator('.stage').first().boundingBox();
    await page.mouse.move(box.x + box.width / 4, box.y + box.height / 2);
    await soon(async () => assert.match(await drawer.locator('table').innerText(), /120[\s\S]*130[\s\S]*−10/));
    await drawer.getByRole('radio', { name: 'Side by side' }).click();
    await soon(async () => assert.equal(await drawer.locator('.stage img').count(), 2));
    await drawer.getByRole('radio', { name: 'Blink' }).click();
    await until('B', async () => (await drawer.locator('.stage .mark').innerText()) === 'B');
    await until('A', async () => (await drawer.locator('.stage .mark').innerText()) === 'A');
    await drawer.getByRole('radio', { name: 'Difference' }).click();
    await soon(async () => assert.match(await drawer.locator('.stage img').getAttribute('src'), /difference/));
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /img\.compare=difference/));
    // another step of A
    await drawer.getByRole('slider', { name: 'A: step' }).fill('0');
    await soon(async () => assert.match(await drawer.locator('dl').innerText(), /10\s*\/255/));
    const link = await address(page);
    // pictures of two sizes
    await page.locator('#tag-filter').fill('other');
    await menu('a', 'other', 'Compare as A');
    await soon(async () => assert.match(await drawer.innerText(), /of one size can be compared: 16 × 16 and 32 × 32/));
    await drawer.getByRole('button', { name: 'Close the comparison' }).click();
    await soon(async () => assert.equal(await drawer.count(), 0));
    const again = keep(await openImages(server, link));
    await soon(async () => assert.match(await again.locator('.compare dl').innerText(), /10\s*\/255/));
  },

  async 'an animation plays and is stepped through frame by frame'(keep) {
    const colours = [
      [200, 30, 30],
      [30, 200, 30],
      [30, 30, 200],
    ];
    const { server } = await made((logdir) => {
      new RunWriter(logdir, 'run', START).images(1, { video: gif(colours) }).flush();
    });
    const page = keep(await openImages(server, '#images&full=!images!run!!video'));
    const full = page.getByRole('dialog');
    await full.getByRole('button', { name: /Stop the animation/ }).click();
    await soon(async () => assert.deepEqual(await middle(full.locator('.stage img')), colours[0]));
    await full.getByRole('slider', { name: 'Frame of the animation' }).fill('2');
    await soon(async () => assert.deepEqual(await middle(full.locator('.stage img')), colours[2]));
    await soon(async () => assert.match(await full.innerText(), /frame 3 of 3/));
    await full.locator('.view').focus();
    await page.keyboard.press(',');
    await soon(async () => assert.deepEqual(await middle(full.locator('.stage img')), colours[1]));
    await full.getByRole('button', { name: /Play the animation/ }).click();
    await soon(async () => assert.match(await full.locator('.stage img').getAttribute('src'), /blob/));
  },

  async 'a new step moves the cards that follow, and leaves the slider that was set'(keep) {
    const { server, runs } = await made();
    const page = keep(await openImages(server));
    await shows(page, 'unet-l', 84000);
    await card(page, 'unet-s').locator('input[type=range]').fill('2');
    await shows(page, 'unet-s', 5000);
    for (const name of ['unet-l', 'unet-s'])
      runs[name].images(90000, { 'val/samples': plain([1, 2, 3], 64, 48) }).flush();
    await soon(async () => assert.deepEqual(await middle(card(page, 'unet-l').locator('.stage img')), [1, 2, 3]));
    await soon(async () => assert.match(await card(page, 'unet-s').locator('footer').innerText(), /3 of 7/));
    await shows(page, 'unet-s', 5000);
  },

  async 'the picture stays until the next one is there, and nothing jumps'(keep) {
    const { server } = await made();
    const page = keep(await openImages(server));
    await shows(page, 'unet-l', 84000);
    const box = await card(page, 'unet-l').locator('.stage img').boundingBox();
    // pictures are held back: the old one stays in its place
    let letGo = () => {};
    const held = new Promise((done) => (letGo = done));
    await page.route(/blob\?.*samples/, async (route) => {
      await held;
      await route.continue();
    });
    await card(page, 'unet-l').locator('input[type=range]').fill('1');
    await soon(async () => assert.match(await card(page, 'unet-l').locator('input.step').inputValue(), /^1\s000$/));
    await soon(async () =>
      assert.deepEqual(await middle(card(page, 'unet-l').locator('.stage img')), colourOf(0, 84000, 0)),
    );
    await soon(async () => assert.deepEqual(await card(page, 'unet-l').locator('.stage img').boundingBox(), box));
    letGo();
    await shows(page, 'unet-l', 1000);
    await soon(async () => assert.deepEqual(await card(page, 'unet-l').locator('.stage img').boundingBox(), box));
  },

  async 'what is broken or far too large says so, and the page stays quick'(keep) {
    const good = plain([10, 20, 30], 32, 32);
    const cut = scene(200, 200, 0.3).subarray(0, 20000);
    const liar = Buffer.from(good);
    liar.writeUInt32BE(3000, 16); // a width that the data does not have
    const broken = {
      'bad/cut': cut,
      'bad/liar': liar,
      'bad/empty': Buffer.alloc(0),
      'bad/text': Buffer.from('<html><script>window.hacked = 1</script></html>'),
      'bad/svg': Buffer.from(
        '<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked = 1"><script>window.hacked = 1; alert(1)</script></svg>',
      ),
      'bad/noise': Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 256)),
      'bad/bomb': widePng(40000, 40000),
      'good/one': plain([10, 20, 30], 1, 1),
      'good/large': widePng(20000, 20000),
      'good/bmp': bmp([10, 20, 30]),
      'good/jpeg': JPEG,
      'good/webp': WEBP,
      'good/avif': AVIF,
      'good/<img src=x onerror="window.hacked=1">': good,
    };
    const { server } = await made((logdir) => {
      new RunWriter(logdir, 'run', START).images(1, broken).flush();
    }, Object.keys(broken).length);
    const page = keep(await open(server, '#images&v=1', { allowErrors: true })); // pictures that do not load
    const dialogs = [];
    page.on('dialog', (dialog) => dialogs.push(dialog));
    const says = (tag, pattern) =>
      soon(async () => assert.match(await card(page, 'run', tag).locator('.body').innerText(), pattern), 40000);
    await says('bad/cut', /end of this picture is missing/);
    // a sentence in the reader's language, and below it what the decoder says
    await says('bad/liar', /cannot be shown: its data is damaged\.\s+PNG: /);
    await says('bad/empty', /no data/);
    await says('bad/text', /not a picture/);
    await says('bad/svg', /SVG can contain scripts/);
    await says('bad/noise', /not a picture/);
    await says('bad/bomb', /40.000 × 40.000 pixels are too many/);
    await page.locator('header .language').click();
    await says('bad/liar', /无法显示此图像：数据已损坏。\s+PNG: /);
    await page.locator('header .language').click();
    await page.locator('#tag-filter').fill('^good');
    await says('good/large', /20\s000 × 20\s000 pixels, scaled down/);
    // JPEG and AVIF round colours in ways of their own
    const rounding = {
      'good/one': 0,
      'good/bmp': 0,
      'good/jpeg': 2,
      'good/webp': 0,
      'good/avif': 2,
    };
    for (const [tag, most] of Object.entries(rounding))
      await soon(async () => {
        const colour = await middle(card(page, 'run', tag).locator('.stage img'));
        assert.ok(
          [10, 20, 30].every((want, i) => Math.abs((colour?.[i] ?? NaN) - want) <= most),
          `${tag}: ${colour}`,
        );
      });
    await soon(async () => assert.equal(await page.evaluate(() => window.hacked), undefined));
    assert.deepEqual(dialogs, []);
    await shot(page, 'images-broken');
  },

  async 'the tab opens with few requests: its code in a handful of files, a list and a picture for each card'(keep) {
    const { server } = await made();
    const asked = [];
    const before = (page) => page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const page = keep(await openImages(server, '#images&v=1&tags=scene', { before }));
    await soon(async () => assert.equal(await page.locator(READY).count(), 3));
    assert.equal(asked.filter((path) => path.endsWith('/api/v1/images')).length, 3);
    // styles are fetched ahead, and once more from the cache
    const files = new Set(asked.filter((path) => /\/assets\/.*\.(js|css)$/.test(path)));
    assert.ok(files.size <= 20, [...files].join('\n'));
  },

  async 'contact sheets of cards and grids, as SVG and PNG'(keep) {
    const { server } = await made();
    const page = keep(await openImages(server));
    await soon(async () => assert.equal(await page.locator(READY).count(), 6));
    const take = async (entry) => {
      await page.getByRole('button', { name: 'Export ▾' }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: entry }).click(),
      ]);
      return readFileSync(await download.path());
    };
    const svg = (await take('Contact sheet (SVG)')).toString();
    assert.equal(svg.match(/<image /g).length, 6);
    assert.match(svg, /unet-bf16 · step 60\s000/i);
    await page.keyboard.press('v');
    await page.waitForSelector('.matrix .picture img');
    const sheet = await take('Contact sheet (PNG)');
    assert.deepEqual([...sheet.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
  },

  async 'three hundred thousand steps, which come in parts, and two hundred runs'(keep) {
    const { server } = await made((logdir) => {
      const many = new RunWriter(logdir, 'many', START);
      const colours = Array.from({ length: 251 }, (_, i) => plain([i, 1, 1], 1, 1));
      for (let step = 0; step < 300_000; step++) many.images(step, { steps: colours[step % 251] });
      many.flush();
      for (let r = 0; r < 200; r++) new RunWriter(logdir, `r${r}`, START).images(1, { wide: plain([r, 1, 1]) }).flush();
    });
    const page = keep(await openImages(server));
    const one = card(page, 'many', 'steps');
    await soon(async () => assert.match(await one.locator('footer').innerText(), /300\s000 of 300\s000/));
    await soon(async () => assert.deepEqual(await middle(one.locator('.stage img')), [299_999 % 251, 1, 1]));
    for (const step of [50_000, 250_000]) {
      await one.locator('input[type=range]').fill(String(step));
      await soon(async () => assert.deepEqual(await middle(one.locator('.stage img')), [step % 251, 1, 1]));
    }
    await soon(async () => assert.ok((await page.locator('.slot .card').count()) < 60));
    await page.keyboard.press('v');
    const grid = page.locator('[data-tag="!images!!!wide"]');
    await grid.locator('.row').first().waitFor();
    await soon(async () => assert.equal(await grid.locator('.row').count(), 50));
    await grid.getByRole('button', { name: /Show 50 more of 200 runs/ }).click();
    await soon(async () => assert.equal(await grid.locator('.row').count(), 100));
  },

  async 'nothing is lost on a phone'(keep) {
    const { server } = await made();
    const page = keep(
      await openImages(server, '#images&v=1', {
        viewport: { width: 390, height: 800 },
      }),
    );
    await shows(page, 'unet-l', 84000);
    await soon(async () => {
      const box = await card(page, 'unet-l').boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= 390);
    });
    await card(page, 'unet-l').locator('input[type=range]').fill('1');
    await shows(page, 'unet-l', 1000);
    await shot(page, 'images-phone');
  },
};
