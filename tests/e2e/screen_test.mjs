// What depends on the viewer's screen and language, not on the data: pixels, dates, digits.
import assert from 'node:assert/strict';
import { card, CHART, openCharts, serve, shot, soon, svgOf } from './harness.mjs';
import { RunWriter } from './logs.mjs';

/** The axes of a chart as a picture. */
const axes = (page) =>
  card(page, 'val/loss')
    .locator('.plot > canvas')
    .first()
    .evaluate((canvas) => canvas.toDataURL());

export default {
  async 'another device pixel ratio draws every layer anew'(keep) {
    const page = keep(await openCharts('demo'));
    await page.mouse.move(2, 2);
    const cdp = await page.context().newCDPSession(page);
    // the emulation tells a page of another ratio only together with another size; cards keep theirs
    const scale = (deviceScaleFactor) =>
      cdp.send('Emulation.setDeviceMetricsOverride', {
        width: 1440,
        height: 899 + deviceScaleFactor,
        deviceScaleFactor,
        mobile: false,
      });
    const sharp = async (ratio) =>
      await soon(async () =>
        assert.deepEqual(
          await card(page, 'val/loss')
            .locator('canvas')
            .evaluateAll((all) => all.map((c) => c.width / parseFloat(c.style.width))),
          [ratio, ratio, ratio],
        ),
      );
    await scale(1);
    // the axes are those of its lines as soon as these are painted, which other cards' may be before
    await card(page, 'val/loss').locator('.plot[data-painted="9"]').waitFor();
    const before = await axes(page);
    await scale(2);
    await soon(() => sharp(2));
    await scale(1);
    await soon(() => sharp(1));
    await soon(async () => assert.ok((await axes(page)) === before, 'the labels are others'));
  },

  async 'going from address to address leaves nothing that asks a part of the page that is gone'(keep) {
    // the harness fails on warnings: Svelte tells of state that is read after its owner is gone
    const page = keep(await openCharts('demo'));
    await card(page, 'train/loss').locator('.plot').hover();
    for (const [hash, there] of [
      ['#timeseries&table=full', '[role=treegrid]'],
      ['#timeseries&tags=loss', CHART],
      ['#timeseries&full=val/loss', 'dialog[open] .plot'],
      ['#images', 'main'],
      ['#timeseries&select=step&pins=val/loss', CHART],
      ['#timeseries&closed=/train&group=path&bands=std', CHART],
      ['#timeseries&details=vit-b16/seed1&table=full', 'aside'],
      ['#timeseries&runs=nothing', '.none'],
      ['#timeseries&smooth=0.6', CHART],
    ]) {
      await page.evaluate((to) => (location.hash = to), hash);
      await page.waitForSelector(there);
      await page.mouse.move(700, 300);
      await page.mouse.move(710, 310);
    }
  },

  async "dates on the wall axis are in the page's language"(keep) {
    const inLanguage = async (locale) => {
      const page = keep(await openCharts('demo', '#timeseries&x=wall', { locale }));
      return svgOf(page, 'val/loss');
    };
    const english = await inLanguage('en-GB');
    const chinese = await inLanguage('zh-CN');
    assert.match(english, />\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)</);
    assert.match(chinese, />\d{1,2}月\d{1,2}日</);
    assert.doesNotMatch(chinese, /Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|AM|PM|Mon|Tue|Wed|Thu|Fri|Sat|Sun/);
  },

  async 'values that hardly differ are told apart on the axis, in the tooltip and in the tables'(keep) {
    const server = await serve('fresh', (logdir) => {
      for (const [name, by] of [
        ['a', 2e-6],
        ['b', 1e-6],
        ['c', -1e-6],
      ]) {
        const run = new RunWriter(logdir, name);
        for (let step = 0; step < 20; step++) run.scalars(step, { flat: 1 + (by * step) / 20 });
        run.flush();
      }
    });
    const page = keep(await openCharts(server, '#timeseries&smooth=0&select=step'));
    const unlike = (texts, least) => {
      assert.ok(texts.length >= least, texts.join());
      assert.equal(new Set(texts).size, texts.length, texts.join(' '));
    };
    const svg = await svgOf(page, 'flat');
    unlike(
      [...svg.matchAll(/text-anchor="end">([^<]*)</g)].map((m) => m[1]),
      3,
    );
    await card(page, 'flat')
      .locator('.plot')
      .hover({ position: { x: 280, y: 60 } });
    await soon(async () => unlike(await page.locator('.tip tbody tr td:nth-child(3)').allInnerTexts(), 3));
    await soon(async () =>
      unlike(await card(page, 'flat').locator('[role=table] [role=cell]:nth-child(2)').allInnerTexts(), 3),
    );
    await soon(async () =>
      unlike(
        await page
          .locator('[data-run] .number')
          .allInnerTexts()
          .then((all) => all.slice(0, 3)),
        3,
      ),
    );
    await shot(page, 'hardly-different');
  },
};
