// What the y axis of a chart shows: no false numbers, no run that flattens the others, no shape that is lost.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { card, openCharts, serve, soon, svgOf } from './harness.mjs';
import { RunWriter } from './logs.mjs';

const DAY = 86400;
const begin = (logdir, name) => new RunWriter(logdir, name, Date.now() / 1000 - DAY);
const fresh = async (write, hash = '', options = {}) => openCharts(await serve('fresh', write), hash, options);
const labelsOf = (svg) => [...svg.matchAll(/text-anchor="end">([^<]+)</g)].map(([, text]) => text);
const numbersOf = (svg) => labelsOf(svg).map((text) => Number(text.replace('−', '-').replace(/[^\d.e-]/g, '')));

export default {
  async 'one run that went astray does not set the range of a band'(keep) {
    const page = keep(
      await fresh((logdir) => {
        for (let r = 0; r < 24; r++) {
          const run = begin(logdir, `all/r${r}`);
          for (let step = 0; step < 60; step++)
            run.scalars(step, {
              loss: (1 + 2 * Math.exp(-step / 20) + r / 100) * (r === 5 ? 50 : 1),
            });
          run.flush();
        }
      }, '#timeseries&group=path&colour=group&bands=minmax'),
    );
    await soon(async () =>
      assert.match(await card(page, 'loss').locator('footer').innerText(), /24 runs in one group/),
    );
    // the mean goes from 9.5 to 3.5, that one run from 153 to 57, the others from 3.2 to 1.1
    const ticks = numbersOf(await svgOf(page, 'loss'));
    assert.ok(Math.max(...ticks) >= 6 && Math.max(...ticks) < 15, `as high as the mean: ${ticks}`);
    assert.ok(Math.min(...ticks) < 3, `as low as the others: ${ticks}`);
  },

  async 'a card without a finite value has no numbers on its axis, and says what it has'(keep) {
    const page = keep(
      await fresh((logdir) => {
        const run = begin(logdir, 'r');
        for (let step = 0; step < 30; step++)
          run.scalars(step, {
            none: NaN,
            some: step === 20 ? 4 : NaN,
          });
        run.flush();
      }),
    );
    await soon(async () => assert.match(await card(page, 'none').locator('footer').innerText(), /30 NaN/));
    assert.deepEqual(labelsOf(await svgOf(page, 'none')), []);
    assert.ok(numbersOf(await svgOf(page, 'some')).includes(4));
    await card(page, 'none')
      .getByRole('button', { name: /^Vertical axis/ })
      .click();
    await soon(async () => assert.doesNotMatch(await page.getByLabel('from').getAttribute('placeholder'), /\d/));
  },

  async 'a single point has its own value on the axis, and few others, however large its card is'(keep) {
    const page = keep(await fresh((logdir) => void begin(logdir, 'r').scalars(0, { loss: 3 }).flush()));
    const ticks = numbersOf(await svgOf(page, 'loss'));
    assert.ok(ticks.length >= 2 && ticks.length <= 5, ticks.join());
    assert.ok(ticks.includes(3), ticks.join());
  },

  async 'large values that hardly differ keep their shape'(keep) {
    const page = keep(
      await fresh((logdir) => {
        const run = begin(logdir, 'r');
        for (let step = 0; step < 300; step++) run.doubles(step, { tokens: 1e9 + step / 100 });
        run.flush();
      }, '#timeseries&smooth=0'),
    );
    const svg = await svgOf(page, 'tokens');
    const labels = labelsOf(svg);
    assert.ok(labels.length > 2 && new Set(labels).size === labels.length, labels.join());
    const [path] = [...svg.matchAll(/<path d="(M[^"]*)" fill="none" stroke="[^"]*" stroke-width="1.5"/g)]
      .at(-1)
      .slice(1);
    const heights = [...path.matchAll(/[ML]\S+ (\S+?)(?=[ML]|$)/g)].map(([, y]) => Number(y));
    assert.ok(heights[0] - heights.at(-1) > 80, `from ${heights[0]} to ${heights.at(-1)}`);
    const middle = heights[heights.length >> 1];
    assert.ok(Math.abs(middle - (heights[0] + heights.at(-1)) / 2) < 2, 'a straight line');
  },

  async 'a run whose files have nothing to show says so, and cards tell how many runs they lack'(keep) {
    const page = keep(
      await fresh((logdir) => {
        for (const name of ['a', 'b']) begin(logdir, name).scalars(0, { loss: 1 }).scalars(1, { loss: 2 }).flush();
        mkdirSync(join(logdir, 'noise'));
        writeFileSync(join(logdir, 'noise', 'events.out.tfevents.1.host'), 'this is no event file '.repeat(30));
      }),
    );
    await soon(async () => assert.match(await page.locator('[data-run="noise"]').innerText(), /no data/));
    await soon(async () => assert.doesNotMatch(await page.locator('[data-run="a"]').innerText(), /no data/));
    const counts = card(page, 'loss').locator('.counts');
    await soon(async () => assert.match(await counts.innerText(), /2 runs/));
    await soon(async () => assert.match(await counts.getAttribute('title'), /Shown runs without this tag: 1/));
  },

  async 'on a phone a legend has as many rows as its names need, and cuts none'(keep) {
    const names = [
      'adam-lr0.001-seed1',
      'adam-lr0.001-seed2',
      'adam-lr0.01-seed1',
      'sgd-lr0.001-seed1',
      'sgd-lr0.01-s2',
    ];
    const page = keep(
      await fresh(
        (logdir) => {
          for (const name of names) begin(logdir, name).scalars(0, { loss: 1 }).scalars(1, { loss: 2 }).flush();
        },
        '',
        {
          viewport: { width: 390, height: 800 },
          hasTouch: true,
          isMobile: true,
        },
      ),
    );
    await soon(async () => {
      const found = await card(page, 'loss')
        .locator('ul')
        .evaluate((list) => {
          const box = list.getBoundingClientRect();
          return [...list.querySelectorAll('li span')].map((name) => {
            const { right, bottom } = name.getBoundingClientRect();
            return {
              text: name.textContent,
              isWhole: name.scrollWidth <= name.clientWidth && right <= box.right && bottom <= box.bottom + 1,
            };
          });
        });
      assert.deepEqual(
        found,
        names.map((text) => ({ text, isWhole: true })),
      );
    });
  },
};
