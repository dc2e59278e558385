// Distributions: percentile bands over steps, the median drawn, panels side by side or together, tooltip, zoom, axes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RunWriter } from './logs.mjs';
import { START } from './media.mjs';
import { address, axe, diskIsGone, open, serve, shot, soon } from './harness.mjs';
import { DRAWN, made, ODD, openDrawn, pixels, point, rows, write } from './histograms.mjs';

const openBands = (server, hash = '#distributions&v=1', options = {}) => openDrawn(server, hash, options);
const card = (page, tag) => page.locator(`[data-tag="!histograms!!!${tag}"]`).first();
const footer = (page, tag) => card(page, tag).locator('footer').innerText();
/** The strongest pixel of a column: its place from the top, from 0 to 1, and how strong it is. */
function darkest({ width, height, data }, share) {
  const x = Math.round(width * share);
  let best = { at: -1, strength: -1 };
  for (let y = Math.round(height * 0.12); y < height * 0.88; y++) {
    const [r, g, b, a] = data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4);
    const strength = ((Math.max(r, g, b) - Math.min(r, g, b)) * a) / 255;
    if (strength > best.strength) best = { at: y / height, strength };
  }
  return best;
}

export default {
  async 'a card for every tag with a panel for every run, one axis of values, the median drawn and a legend'(keep) {
    const { server } = await made();
    const page = keep(await openBands(server));
    await soon(async () =>
      assert.match(await page.locator('nav .tab[aria-current]').innerText(), /^Distributions\s*5$/),
    );
    await soon(async () => assert.match(await footer(page, 'attn/qkv.grad'), /2 runs · 60 steps/));
    // the gradients are symmetric: the strongest line of the picture is the median, in the middle
    await soon(async () => {
      const picture = await pixels(card(page, 'attn/qkv.grad').locator('.figure'));
      const left = darkest(picture, 0.2);
      const right = darkest(picture, 0.7);
      assert.ok(Math.abs(left.at - right.at) < 0.02 && left.strength > 100, JSON.stringify({ left, right }));
    });
    await soon(async () =>
      assert.match(await page.locator('.legend').getAttribute('aria-label'), /min, 7, 16, 31, 50, 69, 84, 93 %, max/),
    );
    await soon(async () => assert.match(await footer(page, 'attn/qkv.weight'), /widest\s*vit-b16, lr 3e-3/));
    await soon(async () => assert.match(await footer(page, 'mlp/fc1.out'), /vit-b16, lr 3e-3: NaN from 3\s?700/));
    await shot(page, 'distributions');
  },

  async 'the tooltip is one table: a row a run, a column a percentile, at the same step in every panel and card'(keep) {
    const { server } = await made();
    const page = keep(await openBands(server, '#distributions&tags=norm'));
    await point(page, card(page, 'norm/weight').locator('.figure'), 0.3, 0.5);
    await card(page, 'norm/weight').locator('.figure').hover();
    await soon(async () => {
      const tip = (await page.locator('.tip').innerText()).replace(/\u202f/g, ' ');
      assert.match(tip, /step \d/);
      for (const word of ['min', '7 %', '16 %', '31 %', 'median', '69 %', '84 %', '93 %', 'max'])
        assert.ok(tip.includes(word), word);
      assert.equal(await page.locator('.tip tbody tr').count(), 2);
    });
    await soon(async () => assert.equal(await page.locator('.tip tbody tr').first().locator('td').count(), 10));
    await shot(page, 'distributions-hover');
  },

  async 'percentiles are told and drawn as they were logged: each band where its numbers are, the outer ones paler'(
    keep,
  ) {
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'run', START);
      for (const step of [0, 10, 20]) run.histograms(step, { even: [[0, 1, 10000]] }); // evenly from 0 to 1
      run.flush();
    });
    const page = keep(await openBands(server));
    const one = card(page, 'even');
    await point(page, one.locator('.figure'), 0.5, 0.5);
    await soon(async () =>
      assert.deepEqual((await page.locator('.tip tbody td').allInnerTexts()).slice(1), [
        '0',
        '0.067',
        '0.16',
        '0.31',
        '0.50',
        '0.69',
        '0.84',
        '0.93',
        '1',
      ]),
    );
    await one.hover();
    await one.locator('[aria-haspopup=menu]').click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('[role^=menuitem]', { hasText: 'Chart as SVG' }).click(),
    ]);
    const svg = readFileSync(await download.path(), 'utf8');
    const bands = [...svg.matchAll(/<path d="([^"]+)" fill="#[^"]+" opacity="([\d.]+)"/g)].map(([, d, opacity]) => {
      const ys = [...d.matchAll(/ ([\d.]+)/g)].map(([, y]) => Number(y));
      return { top: Math.min(...ys), bottom: Math.max(...ys), opacity: Number(opacity) };
    });
    const { top, bottom } = bands[0];
    const shares = bands.map((band) => [(bottom - band.bottom) / (bottom - top), (bottom - band.top) / (bottom - top)]);
    assert.deepEqual(
      shares.map((band) => band.map((v) => v.toFixed(2))),
      [
        ['0.00', '1.00'],
        ['0.07', '0.93'],
        ['0.16', '0.84'],
        ['0.31', '0.69'],
      ],
    );
    const opacities = bands.map(({ opacity }) => opacity);
    assert.deepEqual(
      opacities,
      [...opacities].sort((a, b) => a - b),
    );
    assert.ok(opacities[0] < opacities[3]);
    const median = /<path d="([^"]+)" fill="none" stroke="#[^"]+" stroke-width="1.8"/.exec(svg)[1];
    for (const [, y] of median.matchAll(/ ([\d.]+)/g))
      assert.ok(Math.abs(Number(y) - (top + bottom) / 2) < 0.5, `${y} between ${top} and ${bottom}`);
  },

  async 'a run that ended early ends early in its panel: all panels have one axis of steps'(keep) {
    const { server } = await made((logdir) => {
      for (const [run, last] of [
        ['long', 100],
        ['short', 40],
      ]) {
        const one = new RunWriter(logdir, run, START);
        for (let step = 0; step <= last; step += 10) one.histograms(step, { weight: rows([[0, 1]]) });
        one.flush();
      }
    });
    const page = keep(await openBands(server, '#distributions&dist.row=1'));
    const [left, right] = [0.25, 0.95]; // of the second panel
    const inkAt = async (share) => {
      const picture = await pixels(card(page, 'weight').locator('.figure'));
      return darkest(picture, 0.53 + 0.46 * share).strength;
    };
    await soon(async () => {
      const [before, after] = [await inkAt(left), await inkAt(right)];
      assert.ok(before > 100 && after < 20, `${before} ${after}`);
    });
    // times of day have nothing in common: each panel has its own
    await page.getByRole('radio', { name: 'Wall' }).click();
    await soon(async () => assert.ok((await inkAt(right)) > 100));
  },

  async 'together, bands, same y, log values and the axis of steps change the picture and are in the address'(keep) {
    const { server } = await made();
    const page = keep(await openBands(server, '#distributions&tags=qkv.weight'));
    const at = card(page, 'attn/qkv.weight').locator('.figure');
    const picture = async () => (await pixels(at)).data.toString('base64');
    let before = await picture();
    const changes = async (what) => {
      await soon(async () => assert.notEqual(await picture(), before, what));
      before = await picture();
    };
    await page.getByRole('button', { name: 'Bands: all' }).click();
    await changes('bands');
    await page.getByRole('button', { name: 'Same y' }).click();
    await changes('own y');
    await page.keyboard.press('l');
    await changes('log');
    await page.keyboard.press('m');
    await changes('together');
    // the outermost band is not drawn: none of it can be beyond the axis
    await soon(async () => assert.doesNotMatch(await footer(page, 'attn/qkv.weight'), /beyond/));
    await page.getByRole('radio', { name: 'Relative' }).click();
    await changes('relative');
    await page.getByRole('radio', { name: 'Wall' }).click();
    await changes('wall');
    await soon(async () => {
      const hash = await address(page);
      for (const part of ['dist.bands=middle', 'dist.y=own', 'dist.scale=symlog', 'dist.layout=together', 'x=wall'])
        assert.ok(hash.includes(part), `${part} in ${hash}`);
    });
    await shot(page, 'distributions-together');
    for (let i = 0; i < 6; i++) await page.keyboard.press('Control+z');
    await soon(async () => assert.doesNotMatch(await address(page), /dist\./));
  },

  async 'a drag zooms to all steps of a part, with Shift values too; a double click shows all again'(keep) {
    const { server } = await made((logdir) => write(logdir, 3000));
    const page = keep(await openBands(server, '#distributions&tags=qkv.grad'));
    const asked = [];
    page.on('request', (r) => {
      if (r.url().endsWith('histograms/grids')) asked.push(JSON.parse(r.postData()));
    });
    await soon(async () => assert.match(await footer(page, 'attn/qkv.grad'), /of 3\s?000 steps/));
    const box = await card(page, 'attn/qkv.grad').locator('.figure').boundingBox();
    const drag = async (key) => {
      if (key) await page.keyboard.down(key);
      await page.mouse.move(box.x + box.width * 0.15, box.y + 60);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.25, box.y + 120, {
        steps: 4,
      });
      await page.mouse.up();
      if (key) await page.keyboard.up(key);
    };
    await drag();
    await soon(async () => assert.ok(asked.at(-1)?.range));
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /dist\.zoom=[\d.]+~[\d.]+\|\|!hist/));
    await drag('Shift');
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /dist\.zoom=[^|]+\|-?[\d.e-]+~/));
    await page.mouse.dblclick(box.x + box.width * 0.2, box.y + 80);
    await soon(async () => assert.doesNotMatch(await address(page), /dist\.zoom/));
  },

  async 'arrow keys walk through steps and Enter chooses one; full size, pictures and buckets to take away'(keep) {
    const { server } = await made();
    const page = keep(await openBands(server, '#distributions&dist.row=3'));
    const one = card(page, 'attn/qkv.grad');
    await one.locator('.figure').focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await soon(async () =>
      assert.match(await one.locator('[aria-live]').innerText(), /^Step 5\s?800, median .*, [\d\s]+ values/),
    );
    await page.keyboard.press('Enter');
    await soon(async () => assert.match(await address(page), /at=5800/));
    for (const [name, pattern] of [
      ['Chart as SVG', /\.svg$/],
      ['Chart as PNG', /\.png$/],
      ['All buckets as CSV', /\.csv$/],
      ['All buckets as JSON', /\.json$/],
    ]) {
      await one.hover();
      await one.locator('[aria-haspopup=menu]').click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.locator('[role^=menuitem]', { hasText: name }).click(),
      ]);
      assert.match(download.suggestedFilename(), pattern);
    }
    await page.keyboard.press('f');
    await page.waitForSelector('dialog[open] .figure[data-drawn]');
    await axe(page, 'distributions at full size', 'dialog');
    await shot(page, 'distributions-full');
    await page.keyboard.press('Escape');
    // as wide as the page, and for whoever opens the link
    await soon(async () => assert.ok((await one.boundingBox()).width < 1000));
    await one.hover();
    await one.locator('[aria-haspopup=menu]').click();
    await page.locator('[role^=menuitem]', { hasText: 'Full width' }).click();
    await soon(async () => assert.ok((await one.boundingBox()).width > 1000));
    const again = keep(await openBands(server, await address(page)));
    await soon(async () => assert.ok((await card(again, 'attn/qkv.grad').boundingBox()).width > 1000));
  },

  async 'on a phone a card says that it has room for one of its runs, together has both, full size has the legend'(
    keep,
  ) {
    const { server } = await made();
    const page = keep(
      await openBands(server, '#distributions', { viewport: { width: 390, height: 844 }, hasTouch: true }),
    );
    const one = card(page, 'attn/qkv.weight');
    await soon(async () => {
      const box = await one.boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= 390);
    });
    await soon(async () => assert.match(await footer(page, 'attn/qkv.weight'), /^1 of 2 runs\s+· 60 steps/));
    await page.getByRole('radio', { name: 'Together' }).click();
    await soon(async () => assert.match(await footer(page, 'attn/qkv.weight'), /^2 runs\s+· 60 steps/));
    await soon(async () => assert.ok(await one.locator('h3').evaluate((h3) => h3.scrollWidth <= h3.clientWidth)));
    await one.getByRole('button', { name: 'Full size' }).click();
    const dialog = page.locator('dialog[open]');
    await dialog.locator('.figure[data-drawn]').waitFor();
    await soon(async () => assert.ok(await dialog.locator('.legend').isVisible()));
    await soon(async () => assert.match(await dialog.innerText(), /2 runs\s+· 60 steps/));
    await shot(page, 'distributions-phone');
  },

  async 'a new step comes by itself, and many runs are counted where they do not fit side by side'(keep) {
    const { server, runs } = await made((logdir) => {
      const made = write(logdir, 5);
      for (let r = 0; r < 18; r++) made[r] = write(join(logdir, `zz/more-${r}`), 2);
      return made;
    });
    const page = keep(await openBands(server));
    await soon(async () => assert.match(await footer(page, 'attn/qkv.grad'), /^\d+ of 38 runs\s+· 5 steps/));
    runs['vit-b16'].histograms(6000, { 'attn/qkv.grad': rows([[0, 0.001]]) }).flush();
    await soon(async () => assert.match(await footer(page, 'attn/qkv.grad'), /6 steps/));
    await page.keyboard.press('m');
    await soon(async () => assert.match(await footer(page, 'attn/qkv.grad'), /^38 runs/));
    const empty = keep(await open(await serve('empty'), '#distributions'));
    await empty.getByText('writer.add_histogram').waitFor();
  },

  async 'one step, nothing but NaN and edges of 1e308 are drawn or told; a failure is told on the card'(keep) {
    const { server } = await made((logdir) =>
      new RunWriter(logdir, 'run', START).histograms(7, { ...ODD, one: rows([[0, 1]]) }).flush(),
    );
    const page = keep(
      await openBands(server, '#distributions&v=1', {
        viewport: { width: 1440, height: 4400 },
      }),
    );
    const drawnOrTold = page.locator(DRAWN).or(page.getByText('Nothing to draw')); // one of them on every card
    await soon(async () => assert.equal(await drawnOrTold.count(), Object.keys(ODD).length + 1));
    await soon(async () => assert.equal(await page.locator(DRAWN).count(), Object.keys(ODD).length - 1)); // two are empty
    const says = (tag, pattern) => soon(async () => assert.match(await card(page, tag).innerText(), pattern));
    await says('empty', /Nothing to draw: these histograms are empty/);
    await says('nan', /run: NaN from 7/);
    await says('infinite', /1 with invalid buckets/);
    await says('negative', /1 with invalid buckets/);
    await soon(async () => assert.doesNotMatch(await card(page, 'nan').innerText(), /Nothing to draw/));
    await soon(async () => {
      const { width, height, data } = await pixels(card(page, 'nan').locator('.figure'));
      const at = (Math.round(height * 0.6) * width + Math.round(width * 0.3)) * 4;
      assert.ok(data[at] > data[at + 1] && data[at + 3] > 0, 'the span is red, from the left edge on');
    });
    for (const tag of ['one', 'huge edges'])
      await soon(async () => {
        const { width, height, data } = await pixels(card(page, tag).locator('.figure'));
        const inked = Array.from({ length: width }, (_, x) => x).filter((x) => {
          const at = (Math.round(height / 2) * width + x) * 4;
          return data[at + 3] > 0 && data[at + 2] > data[at] + 20;
        });
        assert.ok(inked.length >= 2, `${tag} is drawn`);
      });
    // the step below the picture has no decimals
    const svg = async () => {
      await card(page, 'one').hover();
      await card(page, 'one').locator('[aria-haspopup=menu]').click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.locator('[role^=menuitem]', { hasText: 'Chart as SVG' }).click(),
      ]);
      return readFileSync(await download.path(), 'utf8');
    };
    assert.match(await svg(), />7<\/text>/);
    const failing = keep(
      await open(server, '#distributions&v=1', {
        allowErrors: true,
        before: diskIsGone('**/api/v1/histograms/grids'),
      }),
    );
    await failing.getByText('the disk is gone').first().waitFor();
  },
};
