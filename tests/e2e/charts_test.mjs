// Charts: zoom, scales, smoothing, pins, full size, tooltip, marks, export.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { address, card, CHART, loaded, open, openCharts, serve, shot, soon, svgOf, until } from './harness.mjs';
import { RunWriter } from './logs.mjs';

const plot = (page, tag) => card(page, tag).locator('.plot');
async function drag(page, tag, from, to) {
  const box = await plot(page, tag).boundingBox();
  await page.mouse.move(box.x + from[0], box.y + from[1]);
  await page.mouse.down();
  await page.mouse.move(box.x + (from[0] + to[0]) / 2, box.y + to[1], {
    steps: 3,
  });
  await page.mouse.move(box.x + to[0], box.y + to[1]);
  await page.mouse.up();
}

/** TensorBoard's average: debiased, and what is not finite passes through. */
function tensorBoardEma(values, weight) {
  if (values.every((v) => v === values[0])) return values;
  let last = values.length > 0 ? 0 : NaN;
  let n = 0;
  return values.map((v) => {
    if (!Number.isFinite(v)) return v;
    last = last * weight + (1 - weight) * v;
    n++;
    return last / (weight === 1 ? 1 : 1 - weight ** n);
  });
}

export default {
  async 'every group and its cards are drawn, with counts and the best run'(keep) {
    const page = keep(await openCharts('demo'));
    await until('six charts', async () => (await page.locator(CHART).count()) >= 6);
    await soon(async () =>
      assert.match(
        await card(page, 'train/loss').locator('footer').innerText(),
        /9 runs · [\d\u2009]+ of [\d\u2009]+ points/,
      ),
    );
    await soon(async () =>
      assert.match(await card(page, 'train/loss').locator('footer').innerText(), /best\s+vit-b16\/seed\d/),
    );
    await soon(async () =>
      assert.deepEqual(
        (await page.locator('.section h2 button:first-child').allInnerTexts())
          .map((text) => text.replace(/\s+/g, ''))
          .slice(0, 2),
        ['▾train4', '▾val5'],
      ),
    );
    await shot(page, 'timeseries-light');
  },

  async 'drag zooms x, the address says so, a reload and another person see the same, a double click shows all'(keep) {
    const page = keep(await openCharts('demo'));
    await drag(page, 'train/loss', [120, 60], [220, 100]);
    await until('zoom in the address', () => page.evaluate(() => location.hash.includes('zoom=')));
    const hash = await address(page);
    await until('only what is in range', async () =>
      /of (\d|\u2009)+ points/.test(await card(page, 'train/loss').locator('footer').innerText()),
    );
    await shot(page, 'zoomed');
    const other = keep(await openCharts('demo', hash));
    await soon(async () => assert.equal(await other.evaluate(() => location.hash), hash));
    await plot(page, 'train/loss').dblclick({
      position: { x: 150, y: 80 },
    });
    await until('zoom gone', () => page.evaluate(() => !location.hash.includes('zoom=')));
    await page.keyboard.press('Control+z');
    await until('undo brings it back', () => page.evaluate(() => location.hash.includes('zoom=')));
  },

  async 'Escape ends a drag over the chart without a zoom'(keep) {
    const page = keep(await openCharts('demo'));
    const box = await plot(page, 'train/loss').boundingBox();
    await page.mouse.move(box.x + 120, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 220, box.y + 100, { steps: 4 });
    await page.keyboard.press('Escape');
    await page.mouse.up();
    await drag(page, 'train/lr', [120, 60], [220, 100]); // what comes after is as ever
    const zoom = await until('zoom', () => page.evaluate(() => /zoom=([^&]*)/.exec(location.hash)?.[1]));
    assert.match(decodeURIComponent(zoom), /^[^,]*train\/lr$/);
  },

  async 'shift-drag zooms both axes'(keep) {
    const page = keep(await openCharts('demo'));
    await page.keyboard.down('Shift');
    await drag(page, 'train/loss', [120, 40], [240, 110]);
    await page.keyboard.up('Shift');
    const hash = await until('zoom', () => page.evaluate(() => /zoom=([^&]*)/.exec(location.hash)?.[1]));
    assert.match(decodeURIComponent(hash), /^[\d.]+~[\d.]+\|[\d.]+~[\d.]+\|train\/loss$/);
  },

  async 'a zoom asks for more detail than the whole had'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&smooth=0&tags=^train/loss$&zoom=100~500||train/loss'));
    await until('points of the range', async () =>
      /· (\S+) of \1 points/.test(await card(page, 'train/loss').locator('footer').innerText()),
    );
  },

  async 'the tooltip lists the nearest runs, the crosshair is on all cards, arrows move it'(keep) {
    const page = keep(await openCharts('demo'));
    await plot(page, 'train/loss').hover({ position: { x: 180, y: 90 } });
    await page.waitForSelector('.tip');
    await soon(async () => {
      const rows = await page.locator('.tip tbody tr').count();
      assert.ok(rows >= 3 && rows < 9, `${rows} rows: as many as a third of the card has room for`);
      assert.match(await page.locator('.tip p').last().innerText(), new RegExp(`and ${9 - rows} more`));
    });
    const before = await page.locator('.tip p').first().innerText();
    await shot(page, 'tooltip');
    await plot(page, 'train/loss').focus();
    await page.keyboard.press('ArrowRight');
    await until('moved', async () => (await page.locator('.tip p').first().innerText()) !== before);
  },

  async 'log scale, pin and full size have keys'(keep) {
    const page = keep(await openCharts('demo'));
    await plot(page, 'train/loss').hover({ position: { x: 180, y: 90 } });
    await page.keyboard.press('l');
    await until('log', () => page.evaluate(() => location.hash.includes('logy=train/loss')));
    await page.keyboard.press('p');
    await page.waitForSelector('text=Pinned');
    await page.mouse.move(700, 300);
    await page.keyboard.press('k');
    await page.keyboard.press('f');
    await page.waitForSelector('dialog[open] .plot');
    await page.waitForSelector('dialog[open] .row .name');
    await shot(page, 'full-size');
    await page.keyboard.press('Escape');
    await until('closed', async () => (await page.locator('dialog[open]').count()) === 0);
  },

  async "smoothing is TensorBoard's to the digit"() {
    const server = await serve('demo');
    await loaded(server);
    const { runs } = await (await fetch(`${server.url}api/v1/runs`)).json();
    for (const run of runs.slice(0, 3)) {
      const reply = await fetch(`${server.url}api/v1/scalars`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'X-Seaboard-Request': '1',
        },
        body: JSON.stringify({
          x: 'step',
          width: 0,
          smoothing: { kind: 'ema', weight: 0.6 },
          columns: ['step', 'value', 'smooth'],
          series: [{ run: run.id, tag: 'train/grad_norm' }],
        }),
      });
      const body = await reply.arrayBuffer();
      const head = new DataView(body);
      const n = head.getUint32(16 + 24, true);
      const column = (at) => [...new Float64Array(body, head.getUint32(16 + at, true) * 8, n)];
      assert.deepEqual(column(44), tensorBoardEma(column(40), 0.6));
      assert.ok(n > 500);
    }
  },

  async 'the slider smooths and S turns it off'(keep) {
    const page = keep(await openCharts('demo'));
    await page.locator('input[type=range]').fill('0.95');
    await until('in the address', () => page.evaluate(() => location.hash.includes('smooth=0.95')));
    await page.locator('h1').click();
    await page.keyboard.press('s');
    await until('off', () => page.evaluate(() => location.hash.includes('smooth=0')));
  },

  async 'values that are no numbers are counted and marked'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&tags=grad_norm'));
    await page.waitForSelector('footer .bad');
    await soon(async () => assert.match(await page.locator('footer .bad').innerText(), /9 NaN/));
    await shot(page, 'nan');
  },

  async 'points that come under a resting mouse are told where it is'(keep) {
    let answer;
    const held = new Promise((done) => (answer = done));
    const before = (page) =>
      page.route('**/api/v1/scalars', async (route) => {
        await held;
        await route.continue();
      });
    const page = keep(await open(await serve('demo'), '#timeseries&tags=^train/loss$', { before }));
    const box = await card(page, 'train/loss').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    answer();
    // 4000 steps from edge to edge
    await soon(async () => {
      const step = Number(
        /step ([\d\u2009]+)/.exec(await page.locator('.tip p').first().innerText())?.[1].replace(/\D/g, ''),
      );
      assert.ok(step > 1500 && step < 2500, String(step));
    });
  },

  async 'NaN, plus and minus infinity are counted and marked apart'(keep) {
    const server = await serve('fresh', (logdir) => {
      const run = new RunWriter(logdir, 'a');
      // infinities that alternate, closer together than marks are
      for (let step = 0; step < 4000; step++)
        run.scalars(step, {
          odd: step < 100 || step % 100 > 30 ? Math.sin(step / 100) : [Infinity, -Infinity, NaN][step % 3],
        });
      run.flush();
    });
    const page = keep(await openCharts(server, '#timeseries&smooth=0'));
    const footer = card(page, 'odd').locator('footer .bad');
    await soon(async () => assert.deepEqual(await footer.allInnerTexts(), ['403 NaN', '403 +∞', '403 −∞']));
    await shot(page, 'infinities');
    const svg = await svgOf(page, 'odd');
    const marks = (kind) => [...svg.matchAll(new RegExp(`d="([^"]*)"[^>]*data-mark="${kind}"`, 'g'))].map((m) => m[1]);
    for (const kind of ['nan', 'plus', 'minus']) assert.ok(marks(kind).length >= 10, `${kind}: ${marks(kind).length}`);
    // three glyphs: nothing but the place may be alike
    const shapes = ['nan', 'plus', 'minus'].map((kind) => marks(kind)[0].replace(/^M\S+ [^lm]*/, ''));
    assert.equal(new Set(shapes).size, 3, shapes.join());
  },

  async 'x can be relative or wall time'(keep) {
    const page = keep(await openCharts('demo'));
    for (const axis of ['Relative', 'Wall']) {
      await page.getByRole('radio', { name: axis }).click();
      await until('in the address', () => page.evaluate((x) => location.hash.includes(`x=${x}`), axis.toLowerCase()));
      await plot(page, 'train/loss').hover({
        position: { x: 150, y: 80 },
      });
      await until(
        'no step in the tooltip’s head',
        async () => !/^step/.test(await page.locator('.tip p').first().innerText()),
      );
      await shot(page, `axis-${axis.toLowerCase()}`);
    }
  },

  async 'bands show groups with their spread'(keep) {
    const page = keep(await openCharts('demo'));
    await page.getByRole('button', { name: /^Bands/ }).click();
    await page.getByRole('menuitemcheckbox', { name: 'mean ± std' }).click();
    await until('groups', async () =>
      /9 runs in 3 groups/.test(await card(page, 'train/loss').locator('footer').innerText()),
    );
    await plot(page, 'train/loss').hover({ position: { x: 180, y: 90 } });
    await page.waitForSelector('.tip');
    await soon(async () => assert.equal(await page.locator('.tip tbody tr').count(), 3));
    await shot(page, 'bands');
  },

  async 'bands follow the grouping, in the chart and in the tooltip'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&group=path&bands=std'));
    const named = async () => {
      const chart = card(page, 'train/loss').locator('.plot');
      await chart.hover({ position: { x: 150, y: 60 } });
      await chart.hover({ position: { x: 160, y: 60 } });
      return (await page.locator('.tip tbody .name').allInnerTexts()).sort();
    };
    await soon(async () => assert.deepEqual(await named(), ['convnext-s', 'resnet-50', 'vit-b16']));
    // from the menu: nothing else of the view changes
    await page.getByRole('button', { name: /^Group/ }).click();
    await page.getByRole('menuitemcheckbox', { name: 'lr' }).click();
    await soon(async () => assert.deepEqual(await named(), ['0.0003', '0.0004', '0.001']));
  },

  async 'a chart is exported as SVG with its legend, and as PNG'(keep) {
    const page = keep(await openCharts('demo'));
    await card(page, 'train/loss').hover();
    await card(page, 'train/loss').getByRole('button', { name: 'More for this chart' }).click();
    const [svg] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Chart as SVG' }).click(),
    ]);
    const text = readFileSync(await svg.path(), 'utf8');
    assert.match(text, /^<svg /);
    for (const name of ['vit-b16/seed1', 'convnext-s/seed3', 'train/loss']) assert.ok(text.includes(name));
    await card(page, 'train/loss').getByRole('button', { name: 'More for this chart' }).click();
    const [png] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Chart as PNG' }).click(),
    ]);
    await soon(async () =>
      assert.equal(
        readFileSync(await png.path())
          .subarray(1, 4)
          .toString(),
        'PNG',
      ),
    );
  },

  async 'all points of a card are exported as CSV'(keep) {
    const page = keep(await openCharts('demo'));
    await card(page, 'train/loss').hover();
    await card(page, 'train/loss').getByRole('button', { name: 'More for this chart' }).click();
    const href = await page.getByRole('menuitem', { name: 'All points as CSV' }).getAttribute('href');
    const csv = await (await fetch(href)).text();
    assert.match(csv, /^run,tag,step,wall_time,value\r?\n/);
    assert.equal(csv.trim().split('\n').length, 1 + 8109);
  },
};
