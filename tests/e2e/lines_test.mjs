// The lines that a card of time series draws: ranges and scales of axes, smoothing of one card, envelope, bands, baseline,
// attempts, values that are no numbers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { axe, card, openCharts, serve, shot, soon, svgOf, until } from './harness.mjs';
import { RunWriter } from './logs.mjs';

const plot = (page, tag) => card(page, tag).locator('.plot');
const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));
const inHash = (page, text) => until(`${text} in the address`, async () => (await hash(page)).includes(text));
const axis = (page, tag, which) =>
  card(page, tag).getByRole('button', {
    name: which === 'x' ? 'Horizontal axis' : 'Vertical axis',
  });

export default {
  async 'a click on an axis opens its form: a typed range and a scale are kept in the address'(keep) {
    const page = keep(await openCharts('demo'));
    await axis(page, 'train/loss', 'y').click();
    const form = page.getByRole('dialog', { name: 'Vertical axis' });
    await form.getByLabel('from').fill('5');
    await form.getByLabel('to').fill('1');
    await form.getByRole('button', { name: 'Set' }).click();
    await soon(async () => assert.match(await form.getByRole('alert').innerText(), /less than/));
    await form.getByLabel('from').fill('nothing');
    await form.getByRole('button', { name: 'Set' }).click();
    await soon(async () => assert.match(await form.getByRole('alert').innerText(), /numbers/));
    await axe(page, 'axis form');
    await shot(page, 'axis-form');
    await form.getByLabel('from').fill('0.25');
    await form.getByLabel('to').fill('1.5');
    await page.keyboard.press('Enter');
    await inHash(page, 'zoom=|0.25~1.5|train/loss');
    await soon(async () => assert.equal(await form.count(), 0));
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
    await form.getByRole('button', { name: 'Fit to data' }).click();
    await inHash(page, 'zoom=500~2000||train/loss');
    await axis(page, 'train/loss', 'y').click();
    await form.waitFor();
    await page.keyboard.press('Escape');
    await until('closed by Escape', async () => (await form.count()) === 0);
    await soon(async () =>
      assert.ok(await axis(page, 'train/loss', 'y').evaluate((b) => b === document.activeElement)),
    );
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
    const page = keep(
      await openCharts('demo', '#timeseries&symlogy=train/loss&logy=val/loss&xscale=symlog&full=train/loss'),
    );
    await page.waitForSelector('dialog[open] .plot[data-painted="9"]');
    await shot(page, 'symlog-full');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.slot .plot[data-painted="9"]');
    await shot(page, 'symlog');
  },

  async 'a card can have a smoothing of its own, which says so and can be taken back'(keep) {
    const page = keep(await openCharts('demo'));
    await card(page, 'train/loss').hover();
    await card(page, 'train/loss').getByRole('button', { name: 'More for this chart' }).click();
    await page.getByRole('menuitem', { name: 'Smoothing of this card…' }).click();
    const form = page.getByRole('dialog', {
      name: 'Smoothing of this card…',
    });
    const asked = page.waitForRequest((r) => r.url().endsWith('/scalars') && r.postData().includes('"kind":"median"'));
    await form.getByLabel('Smoothing method').selectOption('median');
    await form.getByLabel('Smoothing', { exact: true }).fill('0.9');
    await asked;
    await inHash(page, 'cardsmooth=0.9|median|train/loss');
    await axe(page, 'smoothing form');
    await shot(page, 'card-smoothing');
    await page.keyboard.press('Escape');
    const chip = card(page, 'train/loss').getByRole('button', {
      name: 'median 0.9',
    });
    await chip.click();
    await form.getByRole('button', { name: 'Use the smoothing of all cards' }).click();
    await until('gone', async () => !(await hash(page)).includes('cardsmooth') && (await chip.count()) === 0);
  },

  async 'a series that the server cannot smooth is drawn as it was logged, and the card says so'(keep) {
    const page = keep(
      await openCharts('demo', '#timeseries&smooth=0.6', {
        before: (p) =>
          p.route('**/api/v1/scalars', async (route) => {
            const reply = await route.fetch();
            const body = await reply.body();
            const unsmoothed = 256; // of the first entry's flags (docs/formats/api-v1.md)
            body.writeUInt32LE(body.readUInt32LE(20) | unsmoothed, 20);
            return route.fulfill({ body, contentType: reply.headers()['content-type'] });
          }),
      }),
    );
    await soon(async () => assert.match(await card(page, 'val/loss').locator('footer').innerText(), /1 not smoothed/));
    await axe(page, 'a card with a line that is not smoothed', '.card');
  },

  async 'the envelope shows the least and the greatest of each pixel behind the smoothed line'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&tags=grad_norm'));
    const ink = (p) =>
      p
        .locator('.plot-clip canvas')
        .first()
        .evaluate((c) => c.toDataURL());
    const before = await ink(page);
    await page.getByRole('button', { name: 'View ▾' }).click();
    const asked = page.waitForResponse(
      (r) => r.url().endsWith('/scalars') && r.request().postData().includes('"flags"'),
    );
    await page.getByRole('checkbox', { name: /Min–max envelope/ }).check();
    await asked;
    await inHash(page, 'envelope=on');
    await until('drawn otherwise', async () => (await ink(page)) !== before);
    await page.keyboard.press('Escape');
    await shot(page, 'envelope');
    await card(page, 'train/grad_norm').hover();
    await card(page, 'train/grad_norm').getByRole('button', { name: 'More for this chart' }).click();
    const [svg] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Chart as SVG' }).click(),
    ]);
    await soon(async () => assert.equal(readFileSync(await svg.path(), 'utf8').match(/fill-opacity/g).length, 9));
  },

  async 'bands are of the mean or the median, and a click in one shows the runs it is made of'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&group=path&colour=group&bands=minmax'));
    await until('three lines', async () => (await plot(page, 'val/latency_ms').getAttribute('data-painted')) === '3');
    await page.getByRole('button', { name: /^Bands/ }).click();
    const asked = page.waitForRequest((r) => r.url().endsWith('/bands') && r.postData().includes('"median"'));
    await page.getByRole('menuitemcheckbox', { name: 'Centre: median' }).click();
    await asked;
    await inHash(page, 'center=median');
    await plot(page, 'val/latency_ms').hover({
      position: { x: 150, y: 60 },
    });
    await page.waitForSelector('.tip');
    await soon(async () =>
      assert.deepEqual(await page.locator('.tip th').allInnerTexts(), ['group', 'median', 'low', 'high', 'runs']),
    );
    await soon(async () => {
      const cells = await page.locator('.tip tbody tr').first().locator('td').allInnerTexts();
      assert.ok(Number(cells[3]) < Number(cells[4]), cells.join());
    });
    // the height of that band: ask the page where the nearest group's middle is
    const box = await plot(page, 'val/latency_ms').boundingBox();
    let hit = false;
    for (let y = 8; y < box.height - 24 && !hit; y += 4) {
      await page.mouse.click(box.x + 150, box.y + y);
      hit = await until('its runs, or a tooltip that stays', async () => {
        if ((await hash(page)).includes('members=')) return 'runs';
        return (await page.locator('.tip.pinned').count()) ? 'tooltip' : '';
      }).then((what) => what === 'runs');
      if (!hit) await page.keyboard.press('Escape');
    }
    assert.ok(hit, 'no click met a band');
    await until(
      'its three runs are drawn',
      async () => (await plot(page, 'val/latency_ms').getAttribute('data-painted')) === '6',
    );
    await shot(page, 'band-members');
    await soon(async () => assert.match(await hash(page), /members=[\w-]+/));
  },

  async 'bands are compared with a baseline: seeds against one run'(keep) {
    const server = await serve('fresh', (logdir) => {
      for (const [name, level] of [
        ['base/1', 2],
        ['new/1', 5],
        ['new/2', 7],
      ]) {
        const run = new RunWriter(logdir, name, 1700000000);
        for (let step = 0; step < 50; step++)
          run.scalars(step, {
            loss: level + step,
            ...(name === 'base/1' ? {} : { other: level }),
          });
        run.flush();
      }
    });
    const page = keep(
      await openCharts(server, '#timeseries&smooth=0&group=path&bands=minmax&base=base/1&compare=difference'),
    );
    let tries = 0;
    await until('centre and edges', async () => {
      // cards move while their data comes: the pointer is put on the chart again until its tooltip is there
      await plot(page, 'loss').hover({ position: { x: 180 + (tries++ % 2), y: 60 } });
      const cells = await page.locator('.tip tbody tr', { hasText: 'new' }).locator('td').allInnerTexts();
      return cells.slice(2, 5).join() === '4,3,5' && cells;
    });
    await until('what y is', async () => /Difference from base\/1/i.test(await card(page, 'loss').innerText()));
    await until('who has none', async () =>
      /^2 runs in one group\s+2 without the baseline’s tag/.test(
        await card(page, 'other').locator('footer').innerText(),
      ),
    );
    await shot(page, 'baseline-bands');
  },

  async 'runs are compared with a baseline: difference or ratio, and who has none of its tag is told'(keep) {
    const server = await serve('fresh', (logdir) => {
      for (const [name, level] of [
        ['a', 2],
        ['b', 3],
        ['c', 4],
      ]) {
        const run = new RunWriter(logdir, name, 1700000000);
        for (let step = 0; step < 50; step++)
          run.scalars(step, {
            [name === 'c' ? 'other' : 'loss']: level * (step + 1),
            both: level,
          });
        run.flush();
      }
    });
    const page = keep(await openCharts(server, '#timeseries&smooth=0'));
    await page.getByRole('button', { name: /^Baseline/ }).click();
    await page.getByRole('menuitemcheckbox', { name: 'a', exact: true }).click();
    await inHash(page, 'base=a');
    const at = async (tag, row) => {
      await page.mouse.move(5, 500);
      await plot(page, tag).hover({ position: { x: 180, y: 60 } });
      await page.waitForSelector('.tip');
      const cells = await page.locator('.tip tbody tr', { hasText: row }).locator('td').allInnerTexts();
      const step = /step ([\d\u2009]+)/.exec(await page.locator('.tip p').first().innerText())?.[1];
      return [Number(cells[2].replace('−', '-')), Number(step)];
    };
    await until('the difference', async () => {
      const [value, step] = await at('loss', 'b');
      return value === step + 1;
    });
    await until('itself is nothing', async () => (await at('loss', 'a'))[0] === 0);
    await shot(page, 'baseline-difference');
    await page.getByRole('button', { name: /^Baseline/ }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Show the ratio' }).click();
    await inHash(page, 'compare=ratio');
    await until('the ratio', async () => (await at('both', 'c'))[0] === 2);
    await until('who has none', async () =>
      /1 without the baseline’s tag/.test(await card(page, 'other').locator('footer').innerText()),
    );
    await card(page, 'loss').hover();
    await card(page, 'loss').getByRole('button', { name: 'More for this chart' }).click();
    const [svg] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Chart as SVG' }).click(),
    ]);
    await soon(async () => assert.match(readFileSync(await svg.path(), 'utf8'), /ratio to a/));
    await page.getByRole('button', { name: /^Baseline/ }).click();
    await page.getByRole('menuitemcheckbox', { name: 'No baseline' }).click();
    await until('values again', async () => (await at('both', 'c'))[0] === 4);
  },

  async 'a restarted run is shown as attempts, and steps that go back as parts'(keep) {
    const server = await serve('fresh', (logdir) => {
      const write = (name, start, from, to, level) => {
        const run = new RunWriter(logdir, name, start);
        for (let step = from; step < to; step++) run.scalars(step, { loss: level + step / 100 }, start + step);
        return run.flush();
      };
      write('again', 1700000000, 0, 100, 1);
      write('again', 1700001000, 60, 150, 2);
      write('again', 1700002000, 90, 200, 3);
      const back = write('back', 1700000000, 0, 50, 5);
      for (let step = 20; step < 80; step++) back.scalars(step, { loss: 6 }, 1700000100 + step);
      back.flush();
    });
    const page = keep(await openCharts(server, '#timeseries&smooth=0'));
    await until('two lines', async () => (await plot(page, 'loss').getAttribute('data-painted')) === '2');
    const rows = async (x) => {
      await page.mouse.move(5, 600);
      await plot(page, 'loss').hover({ position: { x, y: 60 } });
      await page.waitForSelector('.tip');
      return (await page.locator('.tip tbody tr:not(.outside) .name').allInnerTexts()).sort();
    };
    await page.getByRole('button', { name: 'View ▾' }).click();
    await page.getByRole('checkbox', { name: /earlier attempts/ }).check();
    await inHash(page, 'attempts=on');
    await page.keyboard.press('Escape');
    await until(
      'three attempts and two parts',
      async () => (await plot(page, 'loss').getAttribute('data-painted')) === '5',
    );
    const box = await plot(page, 'loss').boundingBox();
    const at = (step) => 46 + ((box.width - 56) * (step + 3)) / 205;
    await soon(async () => assert.deepEqual(await rows(at(95)), ['again #1', 'again #2', 'again #3']));
    await soon(async () => assert.deepEqual(await rows(at(30)), ['again #1', 'back #1', 'back #2']));
    await shot(page, 'attempts');
    await soon(async () =>
      assert.match(await card(page, 'loss').locator('footer').innerText(), /2 runs · 410 of 410 points/),
    );
    await page.getByRole('button', { name: 'View ▾' }).click();
    await page.getByRole('checkbox', { name: /earlier attempts/ }).uncheck();
    await page.getByRole('checkbox', { name: /steps go back/ }).check();
    await inHash(page, 'partition=on');
    await until(
      'parts of what is visible',
      async () => (await plot(page, 'loss').getAttribute('data-painted')) === '3',
    );
  },

  async 'one point is a dot, NaN a cross at the last height, infinities at the edge they left by'(keep) {
    const server = await serve('fresh', (logdir) => {
      const run = new RunWriter(logdir, 'r', 1700000000).scalars(0, {
        once: 3,
      });
      [1, 2, NaN, 3, Infinity, 4, -Infinity, 5].forEach((v, step) => run.scalars(step, { odd: v }));
      run.flush();
    });
    const page = keep(await openCharts(server, '#timeseries&smooth=0&wide=odd'));
    await shot(page, 'marks');
    await soon(async () => assert.match(await svgOf(page, 'once'), /<circle /));
    await soon(async () => {
      const odd = await svgOf(page, 'odd');
      // a cross begins 4 pixels above its middle, a triangle at its tip
      const marks = [...odd.matchAll(/<path d="M([-\d.]+) ([-\d.]+)l[^"]*"[^>]*data-mark="(\w+)"/g)].map((m) => ({
        y: Number(m[2]),
        kind: m[3],
      }));
      assert.equal(odd.match(/<circle /g)?.length, 3, 'points between gaps are dots');
      assert.deepEqual(
        marks.map(({ kind }) => kind),
        ['nan', 'plus', 'minus'],
      );
      const [nan, plus, minus] = marks.map(({ y }) => y);
      assert.ok(plus < nan && nan < minus, JSON.stringify(marks));
    });
    await soon(async () => assert.match(await card(page, 'odd').locator('footer').innerText(), /1 NaN\s+1 \+∞\s+1 −∞/));
  },

  async 'alt-drag moves the picture, the wheel with Ctrl zooms around the pointer'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&zoom=1000~2000||train/loss'));
    const zoom = async () =>
      /zoom=([-\d.e]+)~([-\d.e]+)\|/
        .exec(await hash(page))
        .slice(1)
        .map(Number);
    const box = await plot(page, 'train/loss').boundingBox();
    await page.keyboard.down('Alt');
    await page.mouse.move(box.x + 200, box.y + 80);
    await page.mouse.down();
    await page.mouse.move(box.x + 150, box.y + 80, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up('Alt');
    const [from, to] = await until('moved right', async () => {
      const now = await zoom();
      return now[0] > 1000 && now;
    });
    assert.ok(Math.abs(to - from - 1000) < 1, `${from} ${to}`);
    await page.mouse.move(box.x + 200, box.y + 80);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -200);
    await page.keyboard.up('Control');
    await until('closer', async () => {
      const [a, b] = await zoom();
      return b - a < to - from - 1 && a > from && b < to;
    });
  },

  async 'attempts of a long run keep their own extremes when decimated'() {
    const value = (attempt, step) => attempt * 10 + Math.sin(step / 50) + (step === 4321 ? 5 : 0);
    const spans = [
      [0, 6000],
      [3000, 7000],
      [5000, 9000],
    ];
    const server = await serve('fresh', (logdir) => {
      spans.forEach(([from, to], attempt) => {
        const run = new RunWriter(logdir, 'long', 1700000000 + attempt * 100000);
        for (let step = from; step < to; step++) run.scalars(step, { loss: value(attempt, step) });
        run.flush();
      });
    });
    const runs = await until('all is read', async () => {
      const now = (await (await fetch(`${server.url}api/v1/runs`)).json()).runs;
      return now[0]?.points >= 14000 && now;
    });
    const reply = await fetch(`${server.url}api/v1/scalars`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Seaboard-Request': '1',
      },
      body: JSON.stringify({
        x: 'step',
        width: 200,
        superseded: true,
        smoothing: { kind: 'none' },
        columns: ['step', 'value', 'flags'],
        series: [{ run: runs[0].id, tag: 'loss' }],
      }),
    });
    const body = await reply.arrayBuffer();
    const head = new DataView(body);
    const n = head.getUint32(16 + 24, true);
    const column = (at) => new Float64Array(body, head.getUint32(16 + at, true) * 8, n);
    const [step, loss] = [column(32), column(40)];
    const flags = new Uint8Array(body, head.getUint32(16 + 48, true) * 8, n);
    assert.ok(n < 14000 / 4, `${n} points are as many as a picture needs`);
    const starts = [0];
    for (let i = 1; i < n; i++) if (step[i] < step[i - 1]) starts.push(i);
    assert.equal(starts.length, 3);
    starts.forEach((from, attempt) => {
      const to = starts[attempt + 1] ?? n;
      const [first, past] = spans[attempt];
      const cut = spans[attempt + 1]?.[0] ?? Infinity;
      assert.deepEqual([step[from], step[to - 1]], [first, past - 1], `ends of attempt ${attempt}`);
      const seen = loss.subarray(from, to);
      const all = Array.from({ length: past - first }, (_, i) => Math.fround(value(attempt, first + i)));
      assert.equal(Math.max(...seen), Math.max(...all));
      assert.equal(Math.min(...seen), Math.min(...all));
      for (let i = from; i < to; i++)
        assert.equal(flags[i] & 1, step[i] >= cut ? 1 : 0, `point ${step[i]} of attempt ${attempt}`);
    });
  },

  async 'a log x axis has the first steps of a long run, each at its place'(keep) {
    const server = await serve('fresh', (logdir) => {
      const run = new RunWriter(logdir, 'r', 1700000000);
      for (let step = 0; step < 20000; step++) run.scalars(step, { loss: 1 / (step + 1) });
      run.flush();
    });
    const page = keep(await openCharts(server, '#timeseries&smooth=0&xscale=log&logy=loss'));
    await until('all points', async () =>
      /of 20\u2009000|of 20 k|of 20\u2009k/.test(await card(page, 'loss').locator('footer').innerText()),
    );
    const box = await plot(page, 'loss').boundingBox();
    for (const step of [2, 3, 5, 9, 17]) {
      await page.mouse.move(5, 600);
      await plot(page, 'loss').hover({
        position: {
          x: 46 + (box.width - 56) * (Math.log10(step) / Math.log10(20000)),
          y: 80,
        },
      });
      await page.waitForSelector('.tip');
      const seen = async () => Number(/step (\d+)/.exec(await page.locator('.tip p').first().innerText())?.[1]);
      await soon(async () => assert.ok([step - 1, step, step + 1].includes(await seen()), `step ${step}`));
    }
    await shot(page, 'log-x');
  },
};
