// Histograms: four ways to draw them, axes, bins, hover and selection, exact buckets, files to take away, live, both
// languages and themes, real files of every framework and everything hostile that a log may hold.
import assert from 'node:assert/strict';
import { cpSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { RunWriter } from './logs.mjs';
import { START } from './media.mjs';
import { address, axe, diskIsGone, open, ROOT, serve, shot, soon, until } from './harness.mjs';
import { card, DRAWN, made, ODD, openDrawn, pixels, point, rows, write } from './histograms.mjs';

const openHistograms = (server, hash = '#histograms&v=1', options = {}) => openDrawn(server, hash, options);
const VIT = 'vit-b16';
const FAST = 'vit-b16, lr 3e-3';
const footer = (page, run, tag) => card(page, run, tag).locator('footer').innerText();
const figure = (page, run, tag) => card(page, run, tag).locator('.figure');
const isColoured = ([r, g, b, a]) => a > 0 && Math.max(r, g, b) - Math.min(r, g, b) > 40;
/** How many pixels of a column are coloured, at this share of the width. */
function inkOfColumn({ width, height, data }, share) {
  const x = Math.round(width * share);
  let n = 0;
  for (let y = 0; y < height; y++) if (isColoured(data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4))) n++;
  return n;
}
async function menuOf(page, at, name) {
  await at.hover();
  await at.locator('[aria-haspopup=menu]').click();
  return page.locator('[role^=menuitem]', { hasText: name });
}
async function textOf(download) {
  let text = '';
  for await (const part of await download.createReadStream()) text += part;
  return text;
}

/** Heights of a step's bins in an overlay, as shares of the picture's height, from the picture that the menu exports. */
async function heightsOf(page, at) {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    (await menuOf(page, at, 'Chart as SVG')).click(),
  ]);
  const svg = await textOf(download);
  const [, top, height] = /<rect x="[^"]+" y="([^"]+)" width="[^"]+" height="([^"]+)"\/><\/clipPath>/
    .exec(svg)
    .map(Number);
  const clipped = /<g clip-path[^>]*>([^]*?)<\/g>/.exec(svg)[1];
  return [...clipped.matchAll(/ d="([^"]+)"/g)].map(([, d]) => {
    const ys = d
      .slice(1)
      .split('L')
      .map((place) => Number(place.split(' ')[1]));
    return ys.slice(1, -1).map((y) => (top + height - 1 - y) / (height - 1)); // the clip is a pixel higher than the picture
  });
}
function assertNear(found, wanted, within, what) {
  assert.equal(found.length, wanted.length, what);
  found.forEach((x, i) => assert.ok(Math.abs(x - wanted[i]) <= within, `${what} ${i}: ${x}, not ${wanted[i]}`));
}

/** Each card of the hostile log says what can't be drawn, and draws the rest. */
async function saysWhatIsWrong(page) {
  const one = (tag) => page.locator(`[data-tag$="!odd/${tag}"]`).first();
  const says = (tag, pattern) => soon(async () => assert.match(await one(tag).innerText(), pattern, tag));
  const ink = (tag) =>
    soon(async () => {
      const picture = await pixels(one(tag).locator('.figure'));
      const { width } = picture;
      const columns = Array.from({ length: width }, (_, x) => inkOfColumn(picture, x / width));
      assert.ok(Math.max(...columns) > 10, tag);
    });
  await says('zero', /Nothing to draw: these histograms are empty/);
  await says('only nan', /NaN from 1$/m);
  await soon(async () => assert.doesNotMatch(await one('only nan').innerText(), /Nothing to draw/));
  await says('infinite', /2 with invalid buckets/);
  await says('negative', /2 with invalid buckets/);
  await says('only negative', /invalid from 1$/m);
  for (const tag of ['infinite', 'unsorted', 'huge counts', 'huge edges', 'one value', 'steps']) await ink(tag);
  // an axis from -1.7e308 to 1.7e308 has numbers
  await one('huge edges').locator('.figure').hover();
  await soon(async () => assert.match(await page.locator('.tip').innerText(), /median\s+\S*0/));
}

export default {
  async 'a card for every run and tag, old steps pale at the back, new ones in full colour at the front'(keep) {
    const { server } = await made();
    const page = keep(await openHistograms(server, '#histograms&hist.row=3'));
    await soon(async () => assert.ok((await page.locator('.slot .card').count()) >= 6));
    await soon(async () => assert.match(await page.locator('nav .tab[aria-current]').innerText(), /^Histograms\s*5$/));
    await soon(async () => assert.match(await footer(page, VIT, 'attn/qkv.grad'), /vit-b16\s+31\s+of 60 steps/));
    // gradients narrow: the picture is wide at the back and narrow at the front
    await soon(async () => {
      const { width, height, data } = await pixels(figure(page, VIT, 'attn/qkv.grad'));
      const inkOf = (y) => {
        let n = 0;
        for (let x = 0; x < width; x++)
          if (isColoured(data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4))) n++;
        return n / width;
      };
      const [back, front] = [inkOf(Math.round(height * 0.43)), inkOf(Math.round(height * 0.88))];
      assert.ok(front > 0.04 && back > 2.5 * front, `${back} ${front}`);
    });
    await shot(page, 'histograms-offset');
  },

  async 'overlay, heat map and runs are one click or the key M away, for all cards or one, and in the address'(keep) {
    const { server } = await made();
    const page = keep(await openHistograms(server));
    await page.getByRole('radio', { name: 'Overlay' }).click();
    await soon(async () => assert.match(await address(page), /hist\.mode=overlay/));
    await page.keyboard.press('m');
    await soon(async () => assert.match(await address(page), /hist\.mode=heat/));
    // a heat map of gradients that narrow: coloured from top to bottom at first, a thin line at the end
    await soon(async () => {
      const picture = await pixels(figure(page, VIT, 'attn/qkv.grad'));
      const [first, last] = [inkOfColumn(picture, 0.2), inkOfColumn(picture, 0.9)];
      assert.ok(last > 2 && first > 2 * last, `${first} ${last}`);
      // and darkest where most values are
      const { width, height, data } = picture;
      const lightness = (y) => {
        const at = (Math.round(height * y) * width + Math.round(width * 0.2)) * 4;
        return data[at] + data[at + 1] + data[at + 2];
      };
      assert.ok(lightness(0.48) + 60 < lightness(0.24), `${lightness(0.48)} ${lightness(0.24)}`);
    });
    await page.keyboard.press('m');
    await soon(async () => assert.equal(await page.locator('[data-tag="!histograms!!!norm/weight"]').count(), 1));
    await page.keyboard.press('m');
    await soon(async () => assert.doesNotMatch(await address(page), /hist\.mode/));
    await (await menuOf(page, card(page, VIT, 'attn/qkv.grad'), 'This card as Heat map')).click();
    await soon(async () =>
      assert.match(decodeURIComponent(await address(page)), /hist\.card=heat\|!histograms!vit-b16!!attn\/qkv\.grad/),
    );
    await card(page, VIT, 'attn/qkv.grad').getByRole('button', { name: 'Heat map' }).click();
    await soon(async () => assert.doesNotMatch(await address(page), /hist\.card/));
    await page.keyboard.press('Control+z');
    await soon(async () => assert.match(await address(page), /hist\.card/));
  },

  async 'pointing at a step tells its percentiles, moments and the bin, and marks it in the other cards'(keep) {
    const { server } = await made();
    const page = keep(await openHistograms(server));
    const marks = async (run, tag) => (await pixels(figure(page, run, tag), 1)).data.some((v) => v > 0);
    await soon(async () => assert.equal(await marks(FAST, 'attn/qkv.grad'), false));
    await point(page, figure(page, VIT, 'attn/qkv.grad'), 0.42, 0.7);
    await soon(async () => {
      const tip = await page.locator('.tip').innerText();
      assert.match(tip, /step \d/);
      assert.match(tip, /values \(.*%\) in this bin/);
      for (const word of ['min', '7 %', '16 %', '31 %', 'median', '69 %', '84 %', '93 %', 'max', 'mean', 'std'])
        assert.ok(tip.replace(/\u202f/g, ' ').includes(word), `${word} in ${tip}`);
    });
    await soon(async () => assert.equal(await marks(FAST, 'attn/qkv.grad'), true));
    await shot(page, 'histograms-hover');
    await page.mouse.move(5, 5);
    await soon(async () => assert.equal(await page.locator('.tip').count(), 0));
  },

  async 'percentiles, mean and deviation are told as they were logged'(keep) {
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'run', START);
      run.histograms(7, { even: [[0, 1, 10000]] }).flush(); // evenly from 0 to 1
    });
    const page = keep(await openHistograms(server, '#histograms&hist.mode=overlay'));
    await point(page, figure(page, 'run', 'even'), 0.5, 0.5);
    const told = async () =>
      Object.fromEntries(
        await page
          .locator('.tip tr')
          .evaluateAll((rows) =>
            rows.flatMap((row) =>
              [...row.querySelectorAll('th')].map((th) => [
                th.innerText.replace('\u202f', ' '),
                th.nextElementSibling?.innerText,
              ]),
            ),
          ),
      );
    await soon(async () =>
      assert.deepEqual(await told(), {
        min: '0',
        '7 %': '0.06680',
        '16 %': '0.1587',
        '31 %': '0.3085',
        median: '0.5000',
        '69 %': '0.6915',
        '84 %': '0.8413',
        '93 %': '0.9332',
        max: '1',
        values: '10\u2009000',
        mean: '0.5000',
        std: '0.2887', // of values that are spread evenly: the root of a twelfth
      }),
    );
  },

  async 'arrow keys walk through steps and bins, Enter chooses a step, and linked it is that of all cards and tabs'(
    keep,
  ) {
    const { server } = await made();
    const page = keep(await openHistograms(server));
    await page.getByRole('button', { name: 'View ▾' }).click();
    await page.getByLabel('Link steps').check();
    await page.keyboard.press('Escape');
    await figure(page, VIT, 'attn/qkv.grad').focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowLeft');
    await soon(async () =>
      assert.match(
        await card(page, VIT, 'attn/qkv.grad').locator('[aria-live]').innerText(),
        /^Step 5\s?800, at .*: .* values/,
      ),
    );
    await page.keyboard.press('Enter');
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /at=5800\|/));
    await page.keyboard.press('m');
    await page.getByRole('radio', { name: 'Runs' }).click();
    await soon(async () =>
      assert.equal(
        (await page.locator('[data-tag="!histograms!!!norm/weight"] input.step').inputValue()).replace(/\s/g, ''),
        '5800',
      ),
    );
    // a click on a ridge chooses its step, for all cards; a second one takes it back
    const clicked = keep(await openHistograms(server, '#histograms&link=on'));
    await point(clicked, figure(clicked, VIT, 'attn/qkv.grad'), 0.42, 0.7);
    const pointed = await soon(async () => {
      const [, step] = /step ([\d\s]+)/.exec(await clicked.locator('.tip').innerText()) ?? [];
      assert.ok(step);
      return step.replace(/\s/g, '');
    });
    await clicked.mouse.down();
    await clicked.mouse.up();
    await soon(async () => assert.match(decodeURIComponent(await address(clicked)), new RegExp(`at=${pointed}\\|`)));
    await clicked.mouse.down();
    await clicked.mouse.up();
    await soon(async () => assert.doesNotMatch(await address(clicked), /[#&]at=\d/));
    // a step that is not among those that are drawn is reached, too
    const linked = keep(await openHistograms(server, '#histograms&link=on&select=step&at=3300|'));
    await figure(linked, VIT, 'attn/qkv.grad').focus();
    await linked.keyboard.press('ArrowUp');
    await soon(async () =>
      assert.match(await card(linked, VIT, 'attn/qkv.grad').locator('[aria-live]').innerText(), /^Step 3\s?300/),
    );
  },

  async 'steps outside of a selected range are pale'(keep) {
    const { server } = await made();
    const hash = '#histograms&hist.mode=heat';
    const page = keep(await openHistograms(server, hash));
    const all = await pixels(figure(page, VIT, 'attn/qkv.grad'));
    const ranged = keep(await openHistograms(server, `${hash}&select=range&link=on&at=0~2000|`));
    await soon(async () => {
      const some = await pixels(figure(ranged, VIT, 'attn/qkv.grad'));
      assert.ok(inkOfColumn(some, 0.2) > 0.8 * inkOfColumn(all, 0.2));
      const alpha = ({ width, height, data }) =>
        data[(Math.round(height * 0.46) * width + Math.round(width * 0.9)) * 4 + 3];
      assert.ok(alpha(some) < alpha(all), `${alpha(some)} ${alpha(all)}`);
    });
  },

  async 'one outlier step does not flatten the rest and is told; all values are one click away'(keep) {
    const { server } = await made();
    const page = keep(await openHistograms(server, '#histograms&tags=outlier&hist.mode=heat'));
    const tag = 'norm/outlier';
    await soon(async () => assert.match(await footer(page, VIT, tag), /1 step beyond/));
    const height = async () => inkOfColumn(await pixels(figure(page, VIT, tag)), 0.8);
    await soon(async () => assert.ok((await height()) > 100));
    await page.getByRole('button', { name: 'View ▾' }).click();
    await page.getByLabel('Ignore outliers when fitting values').uncheck();
    await soon(async () => assert.ok((await height()) < 20));
    await soon(async () => assert.doesNotMatch(await footer(page, VIT, tag), /beyond/));
    await soon(async () => assert.match(await address(page), /hist\.outliers=show/));
  },

  async 'nothing but NaN from some step on is a span with its reason, never an empty card'(keep) {
    const { server } = await made();
    const page = keep(await openHistograms(server, '#histograms&tags=fc1'));
    await soon(async () => assert.match(await footer(page, FAST, 'mlp/fc1.out'), /NaN from 3\s?800/));
    await soon(async () => {
      const { width, height, data } = await pixels(figure(page, FAST, 'mlp/fc1.out'));
      const at = (Math.round(height * 0.86) * width + Math.round(width * 0.5)) * 4;
      const [r, g, , a] = data.subarray(at, at + 4);
      assert.ok(a > 0 && r > g, 'the span is red');
    });
  },

  async 'bins, normalisation, log axes and the axis of steps change the picture, and are in the address'(keep) {
    const { server } = await made();
    const page = keep(await openHistograms(server, '#histograms&tags=qkv.grad'));
    const asked = [];
    page.on('request', (r) => {
      if (r.url().endsWith('histograms/grids')) asked.push(JSON.parse(r.postData()));
    });
    const picture = async () => (await pixels(figure(page, VIT, 'attn/qkv.grad'))).data.toString('base64');
    let before = await picture();
    const changes = async (what) => {
      await soon(async () => assert.notEqual(await picture(), before, what));
      before = await picture();
    };
    await page.getByRole('button', { name: /^Bins:/ }).click();
    await page.locator('[role^=menuitem]', { hasText: '30 bins, as in TensorBoard' }).click();
    await changes('bins');
    await soon(() => assert.equal(asked.at(-1).bins, 30));
    await page.getByRole('button', { name: /^Values:/ }).click();
    await page.locator('[role^=menuitem]', { hasText: /log/ }).click();
    await changes('log values');
    await soon(() => assert.equal(asked.at(-1).scale, 'log'));
    await page.getByRole('radio', { name: 'Overlay' }).click();
    await changes('overlay');
    await page.keyboard.press('l');
    await changes('log counts');
    await page.keyboard.press('n');
    await changes('counts');
    await soon(async () => {
      const hash = await address(page);
      for (const part of ['hist.bins=30', 'hist.scale=log', 'hist.logy=on', 'hist.norm=off', 'hist.mode=overlay'])
        assert.ok(hash.includes(part), `${part} in ${hash}`);
    });
    await page.getByRole('radio', { name: 'Offset' }).click();
    await changes('offset');
    await page.getByRole('radio', { name: 'Wall' }).click();
    await changes('wall');
    await soon(() => assert.equal(asked.at(-1).x, 'wall'));
    await page.getByRole('radio', { name: 'Relative' }).click();
    await changes('relative');
    await soon(async () => assert.match(await address(page), /x=relative/));
  },

  async 'heights are the shares or the counts of the logged buckets, on a linear and on a logarithmic axis'(keep) {
    const count = (k) => 10 ** (k % 4);
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'run', START);
      for (const step of [0, 1])
        run.histograms(
          step,
          { w: Array.from({ length: 30 }, (_, k) => [k, k + 1, count(k) * 10 ** step]) },
          START + step,
        );
      run.flush();
    });
    const page = keep(await openHistograms(server, '#histograms&hist.mode=overlay&hist.bins=30'));
    const bins = Array.from({ length: 30 }, (_, k) => k);
    const are = (first, second, what) =>
      soon(async () => {
        const found = await heightsOf(page, card(page, 'run', 'w'));
        assert.equal(found.length, 2, what);
        assertNear(found[0], bins.map(first), 0.005, `${what}, step 0,`);
        assertNear(found[1], bins.map(second), 0.005, `${what}, step 1,`);
      });
    await are(
      (k) => count(k) / 1000,
      (k) => count(k) / 1000,
      'shares',
    );
    await page.keyboard.press('l');
    await are(
      (k) => (k % 4) / 3,
      (k) => (k % 4) / 3,
      'shares, logarithmic',
    );
    await page.keyboard.press('n');
    await are(
      (k) => (k % 4) / 4,
      (k) => ((k % 4) + 1) / 4,
      'counts, logarithmic',
    );
    await page.keyboard.press('l');
    await are(
      (k) => count(k) / 10_000,
      (k) => count(k) / 1000,
      'counts',
    );
  },

  async 'a logarithmic axis of values has the value under the pointer, and the count of its bin'(keep) {
    const { server } = await made((logdir) => {
      const buckets = Array.from({ length: 30 }, (_, k) => [100 * k, 100 * (k + 1), 100]); // as many values as the axis is long
      new RunWriter(logdir, 'run', START).histograms(0, { w: buckets }, START).flush();
    });
    const page = keep(await openHistograms(server, '#histograms&hist.scale=log&hist.bins=30'));
    const { width } = await figure(page, 'run', 'w').boundingBox();
    const number = (text) => Number(text.replaceAll(/[\s,]/g, '').replace('−', '-'));
    const told = async (share) => {
      await point(page, figure(page, 'run', 'w'), (12 + share * (width - 68)) / width, 0.5);
      const text = await page.locator('.tip p').nth(1).innerText();
      const found = /^([\d\s.]+) · ([\d\s.]+) values/.exec(text);
      assert.ok(found, text);
      return { value: number(found[1]), n: number(found[2]) };
    };
    // the axis is sign(v) · log(1 + |v| / near): three places give `near`, a fourth one then follows
    await soon(async () => {
      const [a, b, c] = [await told(0.25), await told(0.5), await told(0.75)].map(({ value }) => value);
      const near = (a * c - b * b) / (2 * b - a - c);
      const place = (v) => Math.log1p(v / near);
      const valueAt = (share) => near * Math.expm1(share * place(3000));
      assert.ok(near > 0 && Math.abs(valueAt(0.5) / b - 1) < 0.02, `${[a, b, c, near]}`);
      for (const bin of [24, 27]) {
        const { value, n } = await told((bin + 0.5) / 30);
        assert.ok(Math.abs(value / valueAt((bin + 0.5) / 30) - 1) < 0.02, `${value}`);
        assert.ok(Math.abs(n / (valueAt((bin + 1) / 30) - valueAt(bin / 30)) - 1) < 0.02, `bin ${bin}: ${n}`);
      }
    });
  },

  async 'an empty histogram on a phone says so over an empty picture'(keep) {
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'run', START);
      for (const step of [0, 1, 2]) run.histograms(step, { w: [[0, 1, 0]] }, START + step);
      run.flush();
    });
    for (const tab of ['histograms', 'distributions']) {
      const page = keep(await open(server, `#${tab}`, { viewport: { width: 390, height: 844 } }));
      await page.getByText('Nothing to draw').waitFor();
      await soon(async () => {
        const { data } = await pixels(page.locator('.card .figure'));
        assert.ok(
          data.every((byte) => byte === 0),
          `${tab}: nothing is behind the text`,
        );
      });
    }
  },

  async 'a heat map zooms to every step by a drag and shows all again by a double click'(keep) {
    const { server } = await made((logdir) => write(logdir, 600));
    const page = keep(await openHistograms(server, '#histograms&tags=qkv.grad&hist.mode=heat&hist.row=3'));
    await soon(async () => assert.match(await footer(page, VIT, 'attn/qkv.grad'), /of 600 steps/));
    const box = await figure(page, VIT, 'attn/qkv.grad').boundingBox();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 80);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 90, {
      steps: 4,
    });
    await page.mouse.up();
    await soon(async () =>
      assert.match(decodeURIComponent(await address(page)), /hist\.zoom=[\d.]+~[\d.]+\|!histograms/),
    );
    await soon(async () => assert.doesNotMatch(await address(page), /[#&]at=/)); // the drag chose no step
    await page.mouse.dblclick(box.x + box.width * 0.5, box.y + 80);
    await soon(async () => assert.doesNotMatch(await address(page), /hist\.zoom/));
  },

  async 'runs of a tag are compared at one step, which a slider chooses'(keep) {
    const { server } = await made();
    const page = keep(await openHistograms(server, '#histograms&hist.mode=runs&tags=norm/weight'));
    const both = page.locator('[data-tag="!histograms!!!norm/weight"]');
    await soon(async () => assert.match(await both.locator('footer').innerText(), /vit-b16\s+vit-b16, lr 3e-3/));
    await point(page, both.locator('.figure'), 0.6, 0.5);
    await soon(async () => {
      const tip = await page.locator('.tip').innerText();
      assert.match(tip, /vit-b16, lr 3e-3\s+[\d.]+\s*%/);
      assert.match(tip, /step 5\s?900/);
    });
    await both.locator('input[type=range]').fill('0');
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /at=0\|!histograms!!!norm\/weight/));
    await both.locator('input.step').fill('1234');
    await both.locator('input.step').press('Enter');
    await soon(async () => assert.match(await address(page), /at=1234/));
    const fc1 = keep(await openHistograms(server, '#histograms&hist.mode=runs&tags=fc1'));
    await soon(async () => assert.match(await fc1.locator('.card footer').first().innerText(), /lr 3e-3: NaN/));
  },

  async 'at full size there are the exact buckets of the step that is looked at; a wide heat map has them beside it'(
    keep,
  ) {
    const { server } = await made();
    const page = keep(await openHistograms(server));
    await figure(page, VIT, 'attn/qkv.weight').hover();
    await page.keyboard.press('f');
    const dialog = page.locator('dialog[open]');
    await soon(async () => assert.match(await dialog.locator('h4').innerText(), /30 buckets at step 5\s?900/));
    await soon(async () => assert.equal(await dialog.locator('tbody').last().locator('tr').count(), 30));
    await dialog.locator('input[type=range]').fill('0');
    await soon(async () => assert.match(await dialog.locator('h4').innerText(), /at step 0/));
    await dialog.getByRole('radio', { name: 'Heat map' }).click();
    await soon(async () => assert.match(await address(page), /hist\.card=heat/));
    await axe(page, 'histograms at full size', 'dialog');
    await shot(page, 'histograms-full');
    await page.keyboard.press('Escape');
    const wide = keep(await openHistograms(server, '#histograms&hist.mode=heat&hist.row=1&tags=qkv.weight'));
    // bars of the exact buckets, at the right of the map
    await soon(async () => {
      const over = await pixels(figure(wide, VIT, 'attn/qkv.weight'), 1);
      const { width } = await figure(wide, VIT, 'attn/qkv.weight').boundingBox();
      assert.ok(inkOfColumn(over, (width - 140) / width) > 20);
    });
    await shot(wide, 'histograms-heat-wide');
  },

  async 'everything can be taken away: SVG, PNG, CSV and JSON'(keep) {
    const { server } = await made();
    const page = keep(await openHistograms(server));
    const one = card(page, VIT, 'attn/qkv.weight');
    const save = async (name) => {
      const [download] = await Promise.all([page.waitForEvent('download'), (await menuOf(page, one, name)).click()]);
      return download;
    };
    const svg = await textOf(await save('Chart as SVG'));
    assert.match(svg, /^<svg/);
    assert.ok((svg.match(/<path/g) ?? []).length > 40);
    assert.match(svg, /vit-b16 · attn\/qkv\.weight/);
    assert.match((await save('Chart as PNG')).suggestedFilename(), /\.png$/);
    const csv = await textOf(await save('All buckets as CSV'));
    assert.match(csv, /^run,tag,step,wall_time,left,right,count\r\n/);
    assert.equal(csv.trim().split('\r\n').length, 1 + 60 * 30);
    const json = JSON.parse(await textOf(await save('All buckets as JSON')));
    assert.equal(json.length, 60);
  },

  async 'filter, pins, J and K, runs and the palette work as in the time series'(keep) {
    const { server } = await made();
    const page = keep(await openHistograms(server));
    await page.keyboard.press('/');
    await page.keyboard.type('norm');
    await soon(async () => assert.equal(await page.locator('.slot .card').count(), 4));
    await page.keyboard.press('Enter');
    await page.keyboard.press('j');
    await page.keyboard.press('p');
    await soon(async () =>
      assert.match(decodeURIComponent(await address(page)), /pins=!histograms!vit-b16!!norm\/outlier/),
    );
    await page.locator(`[data-run="${FAST}"] .swatch, [data-run="${FAST}"] [role=checkbox]`).first().click();
    await soon(async () => assert.equal(await page.locator('.slot .card').count(), 2));
  },

  async 'a new step comes by itself; cards without news ask nothing'(keep) {
    const { server, runs } = await made();
    const asked = [];
    const before = (p) =>
      p.on('request', (r) => {
        if (r.url().endsWith('histograms/grids')) asked.push(r.postData());
      });
    // all cards are in sight: those below would ask later
    const viewport = { width: 1440, height: 3000 };
    const page = keep(await openHistograms(server, undefined, { before, viewport }));
    await soon(async () => assert.match(await footer(page, VIT, 'attn/qkv.grad'), /of 60 steps/));
    await until('all cards have asked', async () => new Set(asked).size >= (await page.locator('.slot').count()));
    asked.length = 0;
    runs[VIT].histograms(6000, {
      'attn/qkv.grad': rows([[0, 0.001]]),
    }).flush();
    await soon(async () => assert.match(await footer(page, VIT, 'attn/qkv.grad'), /of 61 steps/));
    assert.deepEqual(
      asked.filter((body) => !body.includes('qkv.grad')),
      [],
    );
  },

  async 'on a phone there is one card in a row and nothing is cut off'(keep) {
    const { server } = await made();
    const page = keep(
      await openHistograms(server, '#histograms&v=1', {
        viewport: { width: 390, height: 780 },
        hasTouch: true,
      }),
    );
    await soon(async () => {
      const box = await page.locator('.slot .card').first().boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= 390);
    });
    await shot(page, 'histograms-phone');
  },

  async 'real files of TensorFlow, Keras, TF1 and torch are drawn'(keep) {
    const server = await serve('fresh', (logdir) => {
      for (const name of ['tf/v1', 'tf/v2', 'tf/keras', 'torch_writer'])
        cpSync(join(ROOT, 'tests/fixtures', name), join(logdir, name.replace('/', '-')), { recursive: true });
    });
    const tags = (await (await fetch(`${server.url}api/v1/tags?plugin=histograms`)).json()).tags;
    const page = keep(await openHistograms(server, '#histograms&hist.row=4'));
    const seen = new Set();
    await until('every tag was drawn, or is said to be empty', async () => {
      for (const tag of await page
        .locator('.card')
        .evaluateAll((all) =>
          all
            .filter((c) => c.querySelector('.figure[data-drawn]') || /Nothing to draw/.test(c.innerText))
            .map((c) => c.querySelector('h3').title),
        ))
        seen.add(tag.split(' · ').at(-1));
      await page.mouse.move(900, 500);
      await page.mouse.wheel(0, 500);
      return tags.every(({ tag }) => seen.has(tag));
    });
  },

  async 'steps of NaN between others are counted, and a reason that is too long for its card is said in short'(keep) {
    const good = rows([[0, 1]]);
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'run', START);
      for (const step of [1, 2, 3])
        run.histograms(step, {
          between: step === 2 ? ODD.nan : good,
          first: step === 1 ? ODD.nan : good,
          invalid: ODD['only negative'],
        });
      run.flush();
    });
    const page = keep(await openHistograms(server, '#histograms&hist.row=4'));
    for (const tag of ['between', 'first'])
      await soon(async () => assert.match(await footer(page, 'run', tag), /1 with NaN\s+3 steps/));
    const svgOf = async (of) => {
      const [download] = await Promise.all([
        of.waitForEvent('download'),
        (await menuOf(of, card(of, 'run', 'invalid'), 'Chart as SVG')).click(),
      ]);
      return textOf(download);
    };
    assert.match(await svgOf(page), />invalid from 1</);
    const wide = keep(await openHistograms(server, '#histograms&hist.row=1&tags=invalid'));
    assert.match(await svgOf(wide), />only infinite edges or negative counts from step 1 on</);
  },

  async 'hostile histograms draw what can be drawn, say the rest, and break nothing'(keep) {
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, '<img src=x onerror=alert(1)>', 1_763_000_000);
      const good = rows([[0, 1]]);
      const odd = Object.fromEntries(Object.entries(ODD).map(([name, buckets]) => [`odd/${name}`, buckets]));
      run.histograms(1, odd);
      run.histograms(2, { ...odd, 'odd/nan': good });
      for (const step of [-5, 0, 2 ** 53]) if (step >= 0) run.histograms(step, { 'odd/steps': good });
      run.flush();
    });
    for (const mode of ['offset', 'overlay', 'heat', 'runs']) {
      const page = keep(await openHistograms(server, `#histograms&hist.mode=${mode}&hist.row=4`));
      await soon(async () => assert.ok((await page.locator(DRAWN).count()) >= 8));
      await soon(async () =>
        assert.match(
          await page.locator('.card', { hasText: 'empty' }).first().innerText(),
          /Nothing to draw: these histograms are empty/,
        ),
      );
      if (mode === 'offset') await saysWhatIsWrong(page);
      for (const at of await page.locator(DRAWN).all()) await at.hover({ timeout: 2000 }).catch(() => {});
      await shot(page, `histograms-hostile-${mode}`);
    }
  },

  async 'a hundred thousand steps are quick, and any of them can be reached'(keep) {
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'many', 1_763_000_000);
      const shapes = Array.from({ length: 20 }, (_, i) => rows([[i / 10, 1]], 1000, 8));
      for (let step = 0; step < 100_000; step++) run.histograms(step, { w: shapes[step % 20] });
      run.flush();
    });
    const page = keep(await openHistograms(server));
    await soon(async () => assert.match(await footer(page, 'many', 'w'), /of 100\s?000 steps/));
    await page.keyboard.press('j');
    await page.keyboard.press('f');
    const dialog = page.locator('dialog[open]');
    await dialog.locator('input.step').fill('77777');
    await dialog.locator('input.step').press('Enter');
    await soon(async () => assert.match(await dialog.locator('h4').innerText(), /8 buckets at step 77\s?777/));
    const bands = keep(await openHistograms(server, '#distributions'));
    await soon(async () =>
      assert.match(await bands.locator('.card footer').first().innerText(), /1 run\s+· [\d\s]+ of 100\s?000 steps/),
    );
  },

  async 'a log that was cut shows what is left; a failure is told on the card; without histograms how to log them'(
    keep,
  ) {
    const { server, runs } = await made();
    const page = keep(await openHistograms(server, '#histograms&tags=qkv.grad'));
    await soon(async () => assert.match(await footer(page, VIT, 'attn/qkv.grad'), /of 60 steps/));
    truncateSync(runs[VIT].path, 20000);
    await soon(async () => assert.match(await footer(page, VIT, 'attn/qkv.grad'), /vit-b16\s+\d steps/));
    const failing = keep(
      await open(server, '#histograms&v=1', {
        allowErrors: true,
        before: diskIsGone('**/api/v1/histograms/grids'),
      }),
    );
    await failing.getByText('the disk is gone').first().waitFor();
    const empty = keep(await open(await serve('empty'), '#histograms'));
    await empty.getByText('writer.add_histogram').waitFor();
    await axe(empty, 'no histograms');
  },
};
