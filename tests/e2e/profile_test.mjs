// Profiles: captures of torch's profiler as an overview, a timeline and tables; what is damaged, empty, new or large.
import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import { address, axe, open, serve, shot, soon, until } from './harness.mjs';
import { RunWriter } from './logs.mjs';
import { clockOfFrames, LEAST_PLACES } from './motion.mjs';
import {
  CANVAS,
  clickTrack,
  details,
  downloaded,
  made,
  openProfile,
  openTimeline,
  painted,
  range,
  row,
  tab,
  windowOf,
} from './profile_page.mjs';
import { kineto, odd, writeTrace } from './profiles.mjs';

/** In the page, before its scripts: `painted` has one entry a painting of the row of steps, the left edges of the steps. */
function recordSteps() {
  globalThis.painted = [];
  const { fillRect } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillRect = function (x, y, w, h) {
    if (this.canvas.className.includes('steps')) {
      if (y === 0) globalThis.painted.push([]);
      else globalThis.painted.at(-1).push(x);
    }
    return fillRect.call(this, x, y, w, h);
  };
}
const stepsPainted = (page) => page.evaluate(() => globalThis.painted);

export default {
  async 'the overview says how long a step takes and where its time goes'(keep) {
    const page = keep(await openProfile(await made()));
    const verdict = page.locator('.verdict h2');
    await soon(async () =>
      assert.match(await verdict.innerText(), /A step takes 9\.9\d*\sms\. The device is idle for 6\d\s% of the time\./),
    );
    await soon(async () => assert.match(await page.locator('.verdict').innerText(), /Steps\n4/i));
    const bars = page.getByRole('group', { name: 'Step time' }).getByRole('button');
    await soon(async () => assert.equal(await bars.count(), 4));
    await page.getByRole('region', { name: 'Top operators' }).getByText('aten::addmm').waitFor();
    const idle = page.getByRole('region', { name: 'Device idle' });
    await soon(async () => assert.match(await idle.innerText(), /waiting for input[\s\S]*device busy/));
    await bars.nth(1).click();
    await painted(page);
    await soon(async () => assert.match(await range(page).innerText(), /9\.9\d*\sms/));
    await shot(page, 'profile');
  },

  async 'a zoom of the timeline by key is painted in every frame on its way, and at once for people who want less motion'(
    keep,
  ) {
    for (const [reducedMotion, least, most] of [
      ['no-preference', LEAST_PLACES, Infinity],
      ['reduce', 2, 2],
    ]) {
      const page = keep(
        await openTimeline(await made(), undefined, {
          reducedMotion,
          before: async (p) => {
            await p.addInitScript(clockOfFrames);
            await p.addInitScript(recordSteps);
          },
        }),
      );
      await soon(async () => assert.equal((await stepsPainted(page)).at(-1).length, 4));
      const before = (await stepsPainted(page)).length - 1;
      await page.keyboard.press('w');
      await soon(async () => assert.ok(await windowOf(page))); // the address has the window once the motion is over
      await soon(async () => {
        const way = (await stepsPainted(page)).slice(before).map((places) => places.join());
        const places = way.filter((place, i) => place !== way[i - 1]);
        assert.ok(places.length >= least && places.length <= most, `${reducedMotion}: ${places.join(' | ')}`);
      });
    }
  },

  async 'the timeline shows tracks by process and device, and a click tells all about a slice'(keep) {
    const page = keep(await openTimeline(await made()));
    await row(page, 'stream 7').waitFor();
    await soon(() => row(page, 'thread 4242').waitFor());
    // the first step takes 9.9 of 40 ms, from 1 ms on
    await clickTrack(page, 'thread 4242', 0.1);
    await soon(async () => assert.match(await details(page).innerText(), /ProfilerStep#100[\s\S]*9\.9\d*\sms/));
    await shot(page, 'profile-timeline');
  },

  async 'a gap of a device says what the host did meanwhile'(keep) {
    const page = keep(await openTimeline(await made()));
    await row(page, 'Idle').waitFor();
    // the first 2 ms of a step wait for data
    await clickTrack(page, 'Idle', 0.035);
    await soon(async () => assert.match(await details(page).innerText(), /idle: waiting for input/));
  },

  async 'a slice leads to what launched it, and to what it is inside of'(keep) {
    const page = keep(await openTimeline(await made()));
    await page.getByRole('searchbox', { name: 'Find a slice' }).fill('gemm_128x128_nn');
    await soon(async () => assert.match(await page.locator('[role=toolbar]').innerText(), /0 of 12/));
    await page.keyboard.press('Enter');
    await soon(async () =>
      assert.match(await details(page).innerText(), /gemm_128x128_nn[\s\S]*700\sµs[\s\S]*Launched by/),
    );
    await details(page)
      .getByRole('button', { name: /cudaLaunchKernel/ })
      .click();
    await soon(async () =>
      assert.match(await details(page).innerText(), /cudaLaunchKernel[\s\S]*Inside[\s\S]*aten::addmm/),
    );
  },

  async 'slices are found by their arguments'(keep) {
    const page = keep(await openTimeline(await made()));
    const found = page.locator('[role=toolbar]');
    await page.getByRole('searchbox', { name: 'Find a slice' }).fill('achieved OCCUPANCY');
    await soon(async () => assert.match(await found.innerText(), /No slice matches/));
    await page.getByRole('checkbox', { name: 'in arguments' }).check();
    await soon(async () => assert.match(await found.innerText(), /0 of 20/));
    await page.getByRole('button', { name: 'Next slice found' }).click();
    await soon(async () => assert.match(await details(page).innerText(), /gemm_128x128_nn[\s\S]*occupancy/));
    await soon(async () => assert.match(await address(page), /profile\.args=/));
  },

  async 'W, S, A and D zoom and move, 0 shows all, and the address keeps the window'(keep) {
    const page = keep(await openTimeline(await made()));
    await soon(async () => assert.equal(await windowOf(page), ''));
    await page.keyboard.press('w');
    const near = await until('a window', () => windowOf(page));
    const span = (text) => text.split('~').reduce((a, b) => Number(b) - Number(a));
    await page.keyboard.press('d');
    await until('moved', async () => {
      const now = await windowOf(page);
      return now !== near && Math.abs(span(now) / span(near) - 1) < 0.01 && parseFloat(now) > parseFloat(near);
    });
    await page.keyboard.press('s');
    await until('wider', async () => span(await windowOf(page)) > span(near) * 1.2 || (await windowOf(page)) === '');
    await page.keyboard.press('0');
    await until('all', async () => (await windowOf(page)) === '');
  },

  async 'a range of the ruler is summed by name, kind or track, and saved as CSV'(keep) {
    const page = keep(await openTimeline(await made()));
    const ruler = await page.locator('.ruler[title]').boundingBox();
    await page.mouse.move(ruler.x + 4, ruler.y + 10);
    await page.mouse.down();
    await page.mouse.move(ruler.x + ruler.width - 4, ruler.y + 10, {
      steps: 4,
    });
    await page.mouse.up();
    const gemm = range(page).getByRole('row').filter({ hasText: 'gemm_128x128_nn' });
    await soon(async () => assert.match((await gemm.innerText()).replace(/\s+/g, ' '), /nn 12 8\.4/));
    await range(page).getByRole('combobox').selectOption('kind');
    await range(page).getByRole('row').filter({ hasText: 'kernel' }).first().waitFor();
    await range(page).getByRole('combobox').selectOption('name');
    const { text } = await downloaded(page, () => range(page).getByRole('button', { name: 'CSV' }).click());
    assert.match(text, /gemm_128x128_nn.*12/);
    await page.locator('.scroller').focus();
    await page.keyboard.press('Escape');
    await soon(async () => assert.equal(await range(page).count(), 0));
  },

  async 'tracks are pinned and groups folded, and a reload keeps both'(keep) {
    const page = keep(await openTimeline(await made()));
    await row(page, 'stream 7').hover();
    await row(page, 'stream 7').getByRole('button').click();
    await soon(async () => assert.match(await page.locator('.pins').innerText(), /stream 7/));
    const group = page.locator('.names .row.group button').first();
    await group.click();
    await soon(async () => assert.equal(await group.getAttribute('aria-expanded'), 'false'));
    await address(page);
    await page.reload();
    await painted(page);
    await soon(async () => assert.match(await page.locator('.pins').innerText(), /stream 7/));
    await soon(async () =>
      assert.equal(await page.locator('.names .row.group button').first().getAttribute('aria-expanded'), 'false'),
    );
  },

  async 'arrow keys go from slice to slice, F fits it, M marks its range'(keep) {
    const page = keep(await openTimeline(await made()));
    await clickTrack(page, 'thread 4242', 0.1);
    await soon(async () => assert.match(await details(page).innerText(), /ProfilerStep#100/));
    await page.locator('.scroller').focus();
    await page.keyboard.press('ArrowRight');
    await soon(async () => assert.match(await details(page).innerText(), /ProfilerStep#101/));
    await page.keyboard.press('m');
    await soon(async () => assert.match(await range(page).innerText(), /9\.9\d*\sms/));
    await page.keyboard.press('f');
    await until('near', async () => (await windowOf(page)) !== '');
  },

  async 'operators and kernels are sorted, found, and saved as CSV'(keep) {
    const page = keep(await openProfile(await made()));
    await tab(page, 'Operators').click();
    const table = page.getByRole('table', { name: 'Operators' });
    await table.getByText('aten::addmm').waitFor();
    await page.getByRole('img', { name: 'Shares of time' }).waitFor();
    await page.getByRole('searchbox', { name: 'Find an operator' }).fill('linear');
    await soon(async () => assert.equal(await table.getByText('aten::addmm').count(), 0));
    // all steps of torch are one row, as in torch's own tables, and the row finds all of them
    await page.getByRole('searchbox', { name: 'Find an operator' }).fill('profilerstep');
    await soon(async () => assert.equal(await table.getByRole('row').count(), 2));
    await table.getByRole('button', { name: 'ProfilerStep*' }).click();
    await soon(async () => assert.match(await page.locator('[role=toolbar]').innerText(), /of 4/));
    await tab(page, 'Kernels').click();
    const kernels = page.getByRole('table', { name: 'Kernels' });
    await soon(async () =>
      assert.match(
        (await kernels.getByRole('row').nth(1).innerText()).replace(/\s+/g, ' '),
        /gemm_128x128_nn 8\.4\S* 60\.0\s% 12 /,
      ),
    );
    const { text } = await downloaded(page, () => page.getByRole('link', { name: /CSV/ }).click());
    assert.match(text, /gemm_128x128_nn/);
  },

  async 'operators that no kernel belongs to are listed by what the host takes'(keep) {
    const trace = kineto();
    trace.traceEvents = trace.traceEvents.filter(({ cat }) => cat !== 'cuda_runtime');
    for (const { cat, args } of trace.traceEvents)
      if (cat === 'kernel') for (const key of ['External id', 'correlation']) delete args[key];
    const server = await made((logdir) => writeTrace(logdir, 'vit', 'host_1', trace));
    const page = keep(await openProfile(server));
    const top = page.getByRole('region', { name: 'Top operators' });
    await soon(async () => assert.match(await top.innerText(), /Host self[\s\S]*aten::/));
    const first = top.getByRole('row').nth(1).getByRole('cell').last();
    await soon(async () => assert.ok(parseFloat(await first.innerText()) > 0));
    assert.match(await page.locator('.verdict h2').innerText(), /device is idle/);
  },

  async 'times and shares of a median step are in columns'(keep) {
    const trace = kineto();
    // a share below one decimal: 0.05 %
    for (const { ts } of trace.traceEvents.filter(({ name }) => name.startsWith('ProfilerStep')))
      trace.traceEvents.push({ ph: 'X', cat: 'gpu_memcpy', name: 'Memcpy HtoD', pid: 0, tid: 7, ts: ts + 500, dur: 5 });
    const page = keep(await openProfile(await made((logdir) => writeTrace(logdir, 'vit', 'host_1', trace))));
    const rows = page.getByRole('region', { name: 'A median step' }).getByRole('listitem');
    await rows.filter({ hasText: 'copies' }).waitFor();
    await soon(async () => {
      const edges = await rows.evaluateAll((items) =>
        items.map((item) => [...item.querySelectorAll('b, small')].map((one) => one.getBoundingClientRect().right)),
      );
      assert.equal(new Set(edges.map((pair) => pair.map(Math.round).join())).size, 1, edges.join(' | '));
    });
  },

  async 'memory has its curve and its peak'(keep) {
    const page = keep(await openProfile(await made()));
    await tab(page, 'Memory').click();
    const curve = page.getByRole('img', { name: 'Memory over time' });
    await curve.waitFor();
    const marks = curve.locator('text[text-anchor=end]');
    await soon(async () => assert.deepEqual(await marks.allTextContents(), ['5.0 MB', '10 MB', '15 MB', '20 MB']));
    await soon(async () => assert.match(await page.locator('.page').last().innerText(), /At the peak/));
    await soon(async () => assert.match(await page.locator('.bar').last().innerText(), /peak 5\.0 MB/));
    const { text } = await downloaded(page, () => page.getByRole('link', { name: /CSV/ }).click());
    assert.match(text, /^device,name,allocations,bytes[\s\S]*aten::addmm/);
  },

  async 'steps are saved as CSV'(keep) {
    const page = keep(await openProfile(await made()));
    const card = page.getByRole('region', { name: 'Step time' });
    const { name, text } = await downloaded(page, () => card.getByRole('link', { name: /CSV/ }).click());
    assert.equal(name, 'steps.csv');
    assert.match(text, /ProfilerStep#103,103,host_1,30000\.000000,9900\.000000/);
  },

  async 'captures are dots on the line of training, and a dot opens its capture'(keep) {
    const server = await made((logdir) => {
      // a step a second, and captures at two of them
      const start = 1_794_737_000;
      const run = new RunWriter(logdir, 'vit', start);
      for (let step = 0; step <= 100; step++) run.scalars(step, { loss: 1 / (1 + step) });
      run.flush();
      writeTrace(logdir, 'vit', 'host_1', kineto({ first: 100 }), { seconds: start + 20 });
      writeTrace(logdir, 'vit', 'host_1', kineto({ first: 500 }), { seconds: start + 80 });
    });
    const page = keep(await openProfile(server));
    const chart = page.getByRole('region', { name: 'Training and captures' });
    const dots = chart.getByRole('button');
    await soon(async () => assert.equal(await dots.count(), 2));
    await soon(async () => assert.equal(await chart.getByRole('button', { pressed: true }).count(), 1));
    const early = chart.getByRole('button', { name: /step 20:/ });
    await early.click();
    await soon(async () => assert.equal(await early.getAttribute('aria-pressed'), 'true'));
    const bars = page.getByRole('group', { name: 'Step time' });
    await soon(async () => assert.match(await bars.textContent(), /100/));
  },

  async 'input tells how long steps wait for data'(keep) {
    const page = keep(await openProfile(await made()));
    await tab(page, 'Input').click();
    await soon(async () => assert.match(await page.locator('.said').innerText(), /2\d(\.\d+)?\s%/));
  },

  async 'ranks are side by side, with what communication costs each'(keep) {
    const server = await made((logdir) => {
      for (const rank of [0, 1]) writeTrace(logdir, 'ddp', `rank${rank}`, kineto({ rank, ranks: 2 }));
    });
    const page = keep(await openProfile(server));
    await page.getByRole('region', { name: 'Step time' }).getByText('4 steps, mean of 2 ranks').waitFor();
    const bars = page.getByRole('group', { name: 'Step time' }).getByRole('button');
    await soon(async () => assert.equal(await bars.count(), 4));
    // of a step of a rank, as the step time beside it: 1.4 ms of rank 0, 1.2 ms of rank 1
    await soon(async () =>
      assert.match(
        await page.locator('.verdict').innerText(),
        /Communication\s+1\.300?\sms\s+not hidden in a mean step, of 1\.300?\sms/i,
      ),
    );
    await tab(page, 'Distributed').click();
    const ranks = page.getByRole('region', { name: 'Ranks' });
    await soon(async () => assert.match(await ranks.innerText(), /rank 0[\s\S]*ms · [\s\S]*rank 1/));
    await page
      .getByRole('table', { name: 'Collectives' })
      .getByText(/allreduce/i)
      .first()
      .waitFor();
  },

  async 'on a phone the charts of memory and ranks have their whole size, and the page scrolls'(keep) {
    const server = await made((logdir) => {
      for (const rank of [0, 1]) writeTrace(logdir, 'ddp', `rank${rank}`, kineto({ rank, ranks: 2 }));
    });
    const phone = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true };
    const opened = async (which) => keep(await open(server, `#profile&v=1&profile.page=${which}`, phone));
    const memory = await opened('memory');
    const card = memory.getByRole('region', { name: 'Memory over time' });
    await soon(async () => {
      const whole = await card.evaluate((one) => one.scrollHeight - one.clientHeight);
      assert.ok(whole <= 1, `${whole} pixels of the chart are cut off`);
    });
    const ranks = await opened('distributed');
    await soon(async () => {
      const bar = await ranks.getByRole('region', { name: 'Ranks' }).locator('.bar').first().boundingBox();
      assert.ok(bar && bar.width > 250, `the bar of a rank is ${bar?.width} pixels wide`);
    });
    // a word that goes to the next line takes its swatch along
    const legend = ranks.getByRole('region', { name: 'Ranks' }).getByRole('list');
    await soon(async () => {
      const apart = await legend.evaluate((list) =>
        [...list.querySelectorAll('i')].map((swatch) => {
          const word = document.createRange();
          word.selectNode(swatch.nextSibling);
          return word.getBoundingClientRect().left - swatch.getBoundingClientRect().right;
        }),
      );
      assert.ok(apart.length === 4 && apart.every((gap) => gap >= 0 && gap < 8), `gaps: ${apart.join()}`);
    });
  },

  async 'on a phone the open page is named, another one is chosen from a list, and names of tracks are whole'(keep) {
    const server = await made();
    const page = keep(
      await open(server, '#profile&v=1&profile.page=timeline', {
        viewport: { width: 390, height: 800 },
        hasTouch: true,
        isMobile: true,
      }),
    );
    await painted(page);
    const stream = row(page, 'stream 7').locator('.cut');
    await soon(async () => {
      const cut = await stream.evaluate((one) => one.scrollWidth - one.clientWidth);
      assert.ok(cut <= 0, `${cut} pixels of the name are cut off`);
    });
    const pages = page.getByRole('combobox', { name: 'Pages of the profile' });
    await soon(async () => assert.equal(await pages.inputValue(), 'timeline'));
    await pages.selectOption('Kernels');
    await page.getByRole('table', { name: 'Kernels' }).waitFor();
    await soon(async () => assert.match(await address(page), /profile\.page=kernels/));
    // the left panel is closed: neither of its bodies is marked as shown
    await soon(async () =>
      assert.equal(await page.locator('[role=radiogroup][aria-label="Left panel"] [aria-checked=true]').count(), 0),
    );
  },

  async 'without steps and without parts of the time the overview has no empty card'(keep) {
    const server = await made((logdir) => writeTrace(logdir, 'odd', 'host_1', odd()));
    const page = keep(await openProfile(server));
    await page.getByRole('region', { name: 'Top operators' }).getByText('aten::mm').waitFor();
    await soon(async () => assert.equal(await page.getByRole('region', { name: 'The whole capture' }).count(), 0));
  },

  async 'collectives that wait for another rank are hatched in the timeline'(keep) {
    const server = await made((logdir) => {
      for (const rank of [0, 1]) writeTrace(logdir, 'ddp', `rank${rank}`, kineto({ rank, ranks: 2 }));
    });
    const page = keep(await openTimeline(server));
    // rank 1 joins last, in each of the four steps, which count once
    await page.waitForSelector(`${CANVAS}[data-waits="4"]`);
    await soon(async () => assert.match(await page.locator('.left').filter({ hasText: 'Steps' }).innerText(), /4 · /));
  },

  async 'the critical path of a step is listed by name, and marked in the timeline'(keep) {
    const page = keep(await openProfile(await made()));
    const card = page.getByRole('region', { name: 'Critical path' });
    await soon(async () => assert.match(await card.innerText(), /ProfilerStep#10\d · 9\.9\d*\sms/));
    await soon(async () =>
      assert.match(await card.getByRole('table').innerText(), /DataLoader[\s\S]*host[\s\S]*20\.\d\s%/),
    );
    await card.getByRole('button', { name: 'Show in the timeline' }).click();
    await painted(page);
    await page.waitForSelector(`${CANVAS}[data-path]:not([data-path="0"])`);
    const note = page.getByRole('status').filter({ hasText: 'Critical path' });
    await soon(async () => assert.match(await note.innerText(), /Every dependency is in the file/));
    await soon(async () => assert.match(await address(page), /profile\.path=\d/));
    await page.reload();
    await page.waitForSelector(`${CANVAS}[data-path]:not([data-path="0"])`);
    await note.getByRole('button', { name: 'Hide' }).click();
    await page.waitForSelector(`${CANVAS}[data-path="0"]`);
    await page.getByRole('button', { name: 'Flows' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'Critical path of the step in sight' }).click();
    await page.waitForSelector(`${CANVAS}[data-path]:not([data-path="0"])`);
    await note.waitFor();
  },

  async 'modules of torch are a tree with what each costs, folded, found and saved as CSV'(keep) {
    const server = await made((logdir) => writeTrace(logdir, 'vit', 'host_1', kineto({ modules: true })));
    const page = keep(await openProfile(server));
    await tab(page, 'Modules').click();
    const table = page.getByRole('table', { name: 'Modules' });
    const names = async () => (await table.innerText()).match(/nn\.Module: \w+/g);
    await soon(async () => assert.deepEqual(await names(), ['nn.Module: Net_0', 'nn.Module: Linear_0']));
    // four steps, five matmuls, 700 µs of kernels each
    await soon(async () => assert.match(await table.getByRole('row').last().innerText(), /20[\s\S]*14\b/));
    await table.getByRole('button', { name: 'nn.Module: Net_0' }).click();
    await soon(async () => assert.deepEqual(await names(), ['nn.Module: Net_0']));
    await page.getByRole('searchbox', { name: 'Find a module' }).fill('linear');
    await soon(async () => assert.deepEqual(await names(), ['nn.Module: Linear_0']));
    const saved = await downloaded(page, () => page.getByRole('link', { name: 'CSV' }).click());
    assert.match(saved.text, /nn\.Module: Linear_0/);
  },

  async 'two captures are compared, operator by operator'(keep) {
    const server = await made((logdir) => {
      writeTrace(logdir, 'before', 'host_1', kineto({ slow: 1 }));
      writeTrace(logdir, 'after', 'host_1', kineto({ slow: 1.2 }));
    });
    const page = keep(await openProfile(server));
    await tab(page, 'Compare').click();
    const choose = page.getByRole('combobox', { name: 'Compare with' });
    await choose.selectOption({ index: 1 });
    await tab(page, 'Kernels').last().click();
    const table = page.getByRole('table', { name: 'Compare' });
    await soon(async () => assert.match((await table.innerText()).replace(/\s+/g, ' '), /gemm_128x128_nn/));
    // each kernel takes 1.2 times as long in one of them: B / A is that, or its inverse
    await soon(async () =>
      assert.match(
        (await table.getByRole('row').filter({ hasText: 'gemm_128x128_nn' }).innerText()).replace(/\s+/g, ' '),
        /× (1\.20|0\.83\d*)$/,
      ),
    );
  },

  async 'the whole capture or a range of it is saved as a Chrome trace'(keep) {
    const page = keep(await openTimeline(await made()));
    await page.getByRole('button', { name: 'Export' }).click();
    const { name, text } = await downloaded(page, () =>
      page
        .getByRole('menuitem', {
          name: 'Chrome trace of the whole capture',
        })
        .click(),
    );
    assert.match(name, /\.trace\.json$/);
    const slices = JSON.parse(text).traceEvents.filter(({ ph }) => ph === 'X');
    assert.equal(slices.filter(({ name: one }) => one === 'aten::addmm').length, 20);
  },

  async 'a capture that was cut is shown as far as it goes, and what is odd is listed'(keep) {
    const server = await made((logdir) =>
      writeTrace(logdir, 'cut', 'host_1', kineto({ steps: 40 }), {
        cut: 0.7,
      }),
    );
    const page = keep(await openProfile(server));
    const odd = page.getByRole('button', { name: /Oddit/ });
    await odd.click();
    await soon(async () => assert.match(await page.getByRole('dialog').innerText(), /ends|cut|truncated/i));
    await page.keyboard.press('Escape');
    await tab(page, 'Timeline').click();
    await painted(page);
    await row(page, 'thread 4242').waitFor();
  },

  async 'what is odd about a capture is listed by kind, in the language of the viewer'(keep) {
    const server = await made((logdir) => writeTrace(logdir, 'odd', 'host_1', odd()));
    const page = keep(await openProfile(server));
    await page.getByRole('button', { name: 'Oddities in this capture: 7' }).click();
    await soon(async () =>
      assert.deepEqual(await page.getByRole('dialog').locator('dt').allInnerTexts(), [
        'Slices with a negative duration; shown as instants · 1',
        'Slices that begin and never end; shown up to the end of their track · 1',
        'Ends without a beginning; left out · 1',
        'Slices that cross another one without nesting; shown in lanes below · 1',
        'Events of an unknown kind; left out · 1',
        'Events more than a day away from the others; left out · 1',
        'Ids used again · 1',
      ]),
    );
    await page.keyboard.press('Escape');
    // the rest is shown, with a category that nobody knows
    await tab(page, 'Timeline').click();
    await painted(page);
    await page.getByRole('searchbox', { name: 'Find a slice' }).fill('entangle');
    await page.keyboard.press('Enter');
    await soon(async () => assert.match(await details(page).innerText(), /entangle[\s\S]*quantum_op/));
    const chinese = keep(await openProfile(server, '#profile&v=1', { locale: 'zh-CN' }));
    await chinese.getByRole('button', { name: '该采集有 7 处异常' }).click();
    await soon(async () =>
      assert.match(await chinese.getByRole('dialog').innerText(), /时长为负的切片[\s\S]*重复使用的 id/),
    );
  },

  async 'slices that cross are a remark, no warning'(keep) {
    const trace = kineto({ steps: 1 });
    for (const ts of [3000, 3050])
      trace.traceEvents.push({ ph: 'X', cat: 'cpu_op', name: 'crossing', pid: 9, tid: 9, ts, dur: 100 });
    const server = await made((logdir) => writeTrace(logdir, 'vit', 'host_1', trace));
    const page = keep(await openProfile(server));
    await page.getByRole('button', { name: 'Remarks on this capture: 1' }).click();
    await soon(async () => assert.match(await page.getByRole('dialog').innerText(), /Slices that cross another one/));
    await soon(async () => assert.equal(await page.locator('.odd.warn').count(), 0));
  },

  async 'a file that is no trace is listed with the reason'(keep) {
    const server = await made((logdir) => writeTrace(logdir, 'foreign', 'host_1', 'this is no trace'));
    const page = keep(await openProfile(server));
    await soon(async () =>
      assert.match(await page.locator('.body').innerText(), /neither an XSpace nor a Chrome trace/),
    );
  },

  async 'why a capture is refused is told in the language of the viewer'(keep) {
    for (const [text, english, chinese] of [
      ['this is no trace', /The file is in no format that is known here/, /该文件不是可识别的格式/],
      [null, /The file is empty/, /该文件为空/],
    ]) {
      const server = await made((logdir) => {
        const file = writeTrace(logdir, 'foreign', 'host_1', text ?? '');
        if (text === null) truncateSync(file);
      });
      for (const [locale, reason] of [
        ['en-GB', english],
        ['zh-CN', chinese],
      ]) {
        const page = keep(await openProfile(server, '#profile&v=1', { locale }));
        await soon(async () => assert.match(await page.locator('.body .note').innerText(), reason));
        await soon(async () => assert.match(await page.getByRole('option').first().getAttribute('title'), reason));
      }
    }
  },

  async 'a rank whose file is no trace is listed as odd, and the others are shown'(keep) {
    const server = await made((logdir) => {
      writeTrace(logdir, 'ddp', 'rank0', kineto({ rank: 0, ranks: 2 }));
      writeTrace(logdir, 'ddp', 'rank1', 'this is no trace');
    });
    const page = keep(await openProfile(server));
    await page.getByRole('button', { name: 'Oddities in this capture: 1' }).click();
    await soon(async () =>
      assert.match(
        await page.getByRole('dialog').innerText(),
        /Files of this capture that cannot be read; the others are shown[\s\S]*rank1.*neither an XSpace/,
      ),
    );
    await soon(async () => assert.match(await page.locator('.verdict h2').innerText(), /A step takes 9\.9/));
  },

  async 'a capture that is made while the page is open is listed'(keep) {
    const server = await made();
    const page = keep(await openProfile(server));
    await page.getByRole('option').first().waitFor();
    writeTrace(server.logdir, 'later', 'host_1', kineto({ first: 500 }));
    await soon(async () => assert.equal(await page.getByRole('option').count(), 2), 30_000);
    const later = page.getByRole('option', { selected: false });
    await later.click();
    await soon(async () => assert.match(await page.locator('.verdict h2').innerText(), /A step takes/));
    await soon(async () => assert.match(await address(page), /profile\.capture=/));
  },

  async 'names with HTML, emoji and line breaks are shown as they are'(keep) {
    const trace = kineto({ steps: 1 });
    const name = '<img src=x onerror=alert(1)> 🚀 "a\nb"';
    trace.traceEvents.find(({ name: one }) => one === 'aten::linear').name = name;
    const server = await made((logdir) => writeTrace(logdir, 'odd <b>run</b>', 'host_1', trace));
    const page = keep(await openTimeline(server));
    page.on('dialog', () => page.problems.push('a dialog opened'));
    await page.getByRole('searchbox', { name: 'Find a slice' }).fill('onerror');
    await page.keyboard.press('Enter');
    await soon(async () => assert.match(await details(page).innerText(), /<img src=x onerror=alert\(1\)> 🚀/));
  },

  async 'without a capture the page shows how each framework makes one'(keep) {
    const server = await serve('empty');
    const page = keep(await open(server, '#profile&v=1'));
    await page.getByRole('radio', { name: 'JAX' }).click();
    await soon(async () => assert.match(await page.locator('pre').innerText(), /jax\.profiler\.trace/));
  },

  async 'the overview, the timeline and memory are accessible, in English and light'(keep) {
    await checkPages(keep, 'en-GB', 'light', [0, 1, 4]);
  },

  async 'operators and ranks are accessible, in Chinese and dark'(keep) {
    await checkPages(keep, 'zh-CN', 'dark', [2, 7]);
  },
};

/** Axe over some of the pages, by their number. */
async function checkPages(keep, locale, colorScheme, pages) {
  const server = await made((logdir) => {
    for (const rank of [0, 1]) writeTrace(logdir, 'ddp', `rank${rank}`, kineto({ rank, ranks: 2 }));
  });
  const page = keep(await openProfile(server, '#profile&v=1', { locale, colorScheme }));
  const tabs = page.getByRole('radiogroup', { name: /Pages of the profile|性能分析页面/ }).getByRole('radio');
  for (const i of pages) {
    await tabs.nth(i).click();
    if (i === 1) await painted(page);
    else await page.locator('.page .page, [role=table]').first().waitFor();
    await axe(page, `${locale} page ${i}`);
  }
}
