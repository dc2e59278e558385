// Profiles: what the page keeps in its address, what keys alone reach, tracks that are deep, reading that is cancelled,
// captures that come while another one is looked at.
import assert from 'node:assert/strict';
import { address, open, soon } from './harness.mjs';
import { clickTrack, details, downloaded, made, openProfile, openTimeline, range, row, tab } from './profile_page.mjs';
import { kineto, writeTrace } from './profiles.mjs';

const LANES = 40;
/** Slices inside each other, 40 deep; `deep 0` is around all of them. */
function deep() {
  const slice = (i) => ({ ph: 'X', cat: 'cpu_op', name: `deep ${i}`, pid: 1, tid: 2, ts: i, dur: 1000 - 2 * i });
  return { schemaVersion: 1, traceEvents: Array.from({ length: LANES }, (_, i) => slice(i)) };
}
const heightOf = async (page, name) => (await row(page, name).boundingBox()).height;
const table = (page, name) => page.getByRole('table', { name, exact: true });
const rowText = async (page, name, n) =>
  (await table(page, name).getByRole('row').nth(n).innerText()).replace(/\s+/g, ' ');

export default {
  async 'a deep track shows all of its lanes once it is opened, and a slice that is found below opens it'(keep) {
    const server = await made((logdir) => writeTrace(logdir, 'vit', 'host_1', deep()));
    const page = keep(await openTimeline(server, undefined, { viewport: { width: 1440, height: 1200 } }));
    const closed = await heightOf(page, 'thread 2');
    await row(page, 'thread 2')
      .getByRole('button', { name: /Show 16 more lanes/ })
      .click();
    await soon(async () => assert.equal(await heightOf(page, 'thread 2'), closed + 16 * 18));
    await soon(async () => assert.match(await address(page), /profile\.opened=/));
    await clickTrack(page, 'thread 2', 0.5, LANES - 1);
    await soon(async () => assert.match(await details(page).innerText(), /deep 39/));
    await row(page, 'thread 2')
      .getByRole('button', { name: /Show 16 lanes fewer/ })
      .click();
    await soon(async () => assert.equal(await heightOf(page, 'thread 2'), closed));
    await page.getByRole('searchbox', { name: 'Find a slice' }).fill('deep 38');
    await page.keyboard.press('Enter');
    await soon(async () => assert.match(await details(page).innerText(), /deep 38/));
    await soon(async () => assert.equal(await heightOf(page, 'thread 2'), closed + 16 * 18));
  },

  async 'keys alone select the first slice, go into it and on to the next track, and it is read out'(keep) {
    const page = keep(await openTimeline(await made()));
    const said = page.locator('.timeline [aria-live=polite]');
    await page.locator('.scroller').focus();
    await page.keyboard.press('ArrowDown');
    await soon(async () => assert.match(await said.innerText(), /^ProfilerStep#100 · 9\.9\d*\sms · thread 4242/));
    await page.keyboard.press('ArrowDown');
    await soon(async () => assert.match(await said.innerText(), /DataLoader/));
    await page.keyboard.press('ArrowDown'); // nothing is inside of it
    await soon(async () => assert.match(await said.innerText(), /Idle$/));
    await page.keyboard.press('ArrowDown');
    await soon(async () => assert.match(await said.innerText(), /stream 7/));
    await page.keyboard.press('ArrowUp');
    await soon(async () => assert.match(await said.innerText(), /Idle$/));
  },

  async 'pinned tracks that are taller than their room are scrolled'(keep) {
    const page = keep(await openTimeline(await made((logdir) => writeTrace(logdir, 'vit', 'host_1', deep()))));
    await row(page, 'thread 2').hover();
    await row(page, 'thread 2').getByRole('button', { name: /^Pin/ }).click();
    const pinned = page.locator('.pinned');
    await pinned.waitFor();
    const canvas = await pinned.locator('canvas').boundingBox();
    await page.mouse.move(canvas.x + canvas.width / 2, canvas.y + 20);
    await page.mouse.wheel(0, 180); // ten lanes
    await soon(async () => assert.equal(await pinned.evaluate((one) => one.scrollTop), 180));
    await page.mouse.click(canvas.x + canvas.width / 2, canvas.y + 3 + 8);
    await soon(async () => assert.match(await details(page).innerText(), /deep 10\b/));
  },

  async 'what tables show is in the address, and survives another page and a reload'(keep) {
    const page = keep(
      await openProfile(await made((logdir) => writeTrace(logdir, 'vit', 'host_1', kineto({ modules: true })))),
    );
    await tab(page, 'Operators').click();
    await tab(page, 'Host').click();
    await table(page, 'Operators').getByRole('button', { name: 'Calls' }).click();
    await page.getByRole('searchbox', { name: 'Find an operator' }).fill('aten');
    await tab(page, 'Modules').click();
    await table(page, 'Modules').getByRole('button', { name: 'nn.Module: Net_0' }).click();
    await tab(page, 'Operators').click();
    const isKept = async () => {
      assert.equal(await page.getByRole('searchbox', { name: 'Find an operator' }).inputValue(), 'aten');
      assert.equal(await tab(page, 'Host').getAttribute('aria-checked'), 'true');
      const calls = table(page, 'Operators').getByRole('columnheader', { name: /^Calls/ });
      assert.equal(await calls.getAttribute('aria-sort'), 'descending');
    };
    await soon(isKept);
    await soon(async () => assert.match(await address(page), /profile\.operators\.sort=-calls/));
    await page.reload();
    await table(page, 'Operators').waitFor();
    await soon(isKept);
    await tab(page, 'Modules').click();
    await soon(async () => assert.equal(await table(page, 'Modules').getByText('nn.Module: Linear_0').count(), 0));
    await page.keyboard.press('Control+z');
    await soon(isKept);
  },

  async 'operators are sorted by the self time that is shown'(keep) {
    const page = keep(await openProfile(await made()));
    await tab(page, 'Operators').click();
    const self = table(page, 'Operators').getByRole('columnheader', { name: /^Device self/ });
    await soon(async () => assert.equal(await self.getAttribute('aria-sort'), 'descending'));
    await self.getByRole('button').click();
    await soon(async () => assert.equal(await self.getAttribute('aria-sort'), 'ascending'));
  },

  async 'a comparison counts the calls of a step, is sorted and found, and saved as CSV'(keep) {
    const server = await made((logdir) => {
      writeTrace(logdir, 'before', 'host_1', kineto({ steps: 4 }));
      writeTrace(logdir, 'after', 'host_1', kineto({ steps: 8, slow: 1.2 }));
    });
    const page = keep(await openProfile(server));
    await tab(page, 'Compare').click();
    await page.getByRole('combobox', { name: 'Compare with' }).selectOption({ index: 1 });
    await tab(page, 'Kernels').last().click();
    // three of five kernels of a step, however many steps a capture has
    await soon(async () => assert.match(await rowText(page, 'Compare', 1), /^gemm_128x128_nn 3 3 /));
    await page.getByText('Times and calls are those of a step').waitFor();
    await table(page, 'Compare').getByRole('button', { name: 'Name' }).click();
    await soon(async () => assert.match(await rowText(page, 'Compare', 1), /^gemm_128x128_nt 2 2 /));
    await page.getByRole('searchbox', { name: 'Find a name' }).fill('_nn');
    await soon(async () => assert.equal(await table(page, 'Compare').getByRole('row').count(), 2));
    const { name, text } = await downloaded(page, () => page.getByRole('link', { name: 'CSV' }).click());
    assert.equal(name, 'difference.csv');
    assert.match(text, /^name,kind,calls_a,calls_b,a_us,b_us,delta_us\ngemm_128x128_nn,kernel,\d+,\d+,/);
    assert.equal(text.trim().split('\n').length, 2);
    await soon(async () => assert.match(await address(page), /profile\.differ=kernels/));
  },

  async 'a capture stays in sight when a newer one comes, and the address of what is chosen in it names it'(keep) {
    const start = 1_794_737_000;
    const server = await made((logdir) => writeTrace(logdir, 'vit', 'host_1', kineto(), { seconds: start }));
    const page = keep(await openTimeline(server));
    assert.doesNotMatch(await address(page), /profile\.capture/);
    const first = page.locator('.left.all');
    await soon(async () => assert.match(await first.innerText(), /vit · host_1/));
    writeTrace(server.logdir, 'later', 'host_1', kineto({ first: 500 }), { seconds: start + 60 });
    await page.getByRole('radio', { name: 'Captures 2' }).waitFor();
    assert.match(await first.innerText(), /vit · host_1/);
    await clickTrack(page, 'thread 4242', 0.1);
    await soon(async () => assert.match(await address(page), /profile\.capture=/));
    await page.reload();
    await soon(async () => assert.match(await details(page).innerText(), /ProfilerStep#100/));
  },

  async 'reading is cancelled, and taken up again'(keep) {
    const server = await made();
    let isSlow = true;
    const cancelled = [];
    // a capture that is being read for as long as the test wants
    const slow = (capture, job) => ({ ...capture, state: 'parsing', job, done: 1000, total: 4000 });
    const page = keep(
      await openProfile(server, '#profile&v=1', {
        before: async (p) => {
          await p.route('**/profile/captures', async (route) => {
            const reply = await (await route.fetch()).json();
            if (isSlow) reply.captures = reply.captures.map((one) => slow(one, 0)); // the list hears later of the job
            await route.fulfill({ json: reply });
          });
          await p.route('**/profile/open', async (route) => {
            isSlow = cancelled.length === 0; // asked for once more, it is read
            const reply = await (await route.fetch()).json();
            if (isSlow) reply.capture = slow(reply.capture, 77);
            await route.fulfill({ json: reply });
          });
          await p.route('**/job?id=*', async (route) => {
            cancelled.push(`${route.request().method()} ${new URL(route.request().url()).search}`);
            await route.fulfill({ json: { version: 1, job: { id: 77, state: 'cancelled', done: 0, total: 0 } } });
          });
        },
      }),
    );
    await page.getByRole('progressbar', { name: 'Reading…' }).waitFor();
    await page.locator('.body .note').getByRole('button', { name: 'Cancel' }).click();
    await soon(async () => assert.match(await page.locator('.body .note').innerText(), /reading was cancelled/));
    await soon(async () => assert.deepEqual(cancelled, ['DELETE ?id=77']));
    await page.getByRole('button', { name: 'Read it' }).click();
    await soon(async () => assert.match(await page.locator('.verdict h2').innerText(), /A step takes 9\.9/));
  },

  async 'a capture without slices says so, and steps that are not shown are counted'(keep) {
    const nothing = { schemaVersion: 1, traceEvents: [] };
    const page = keep(await openProfile(await made((logdir) => writeTrace(logdir, 'vit', 'host_1', nothing))));
    await page.getByText('There is nothing in host_1').waitFor();
    const many = keep(
      await openProfile(
        await made((logdir) => writeTrace(logdir, 'vit', 'host_1', kineto({ steps: 2100, matmuls: 1 }))),
      ),
    );
    const card = many.getByRole('region', { name: 'Step time' });
    await soon(async () => assert.match(await card.innerText(), /Each bar is the longest of 10 steps/));
    assert.match((await card.innerText()).replace(/\s/g, ' '), /The first 2 000 of 2 100 steps/);
  },

  async 'captures, and bars of steps, are one stop of the Tab key each, and arrow keys go through them'(keep) {
    const server = await made((logdir) => {
      for (const run of ['a', 'b', 'c']) writeTrace(logdir, run, 'host_1', kineto());
    });
    const page = keep(await openProfile(server));
    const focus = () =>
      page.evaluate(() => document.activeElement?.getAttribute('title') ?? document.activeElement?.textContent ?? '');
    const stops = page.locator('[role=listbox] [role=option][tabindex="0"]');
    await soon(async () => assert.equal(await stops.count(), 1));
    await page.getByRole('option').first().focus();
    await page.keyboard.press('ArrowDown');
    await soon(async () => assert.match(await focus(), /\bb\/host_1/));
    await page.keyboard.press('End');
    await soon(async () => assert.match(await focus(), /\bc\/host_1/));
    await page.keyboard.press('Enter');
    await soon(async () => assert.match(await address(page), /profile\.capture=/));
    const bars = page.getByRole('group', { name: 'Step time' });
    await bars.getByRole('button').first().focus();
    assert.equal(await bars.locator('[role=button][tabindex="0"]').count(), 1);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await soon(async () => assert.match(await range(page).innerText(), /9\.9\d*\sms/));
    // the second step begins at 11 ms
    await soon(async () => assert.match(await address(page), /profile\.range=1[01]\d{9}~/));
  },

  async 'Escape in a field of the page ends its search'(keep) {
    const page = keep(await openTimeline(await made()));
    const found = page.locator('[role=toolbar]');
    const field = page.getByRole('searchbox', { name: 'Find a slice' });
    await field.fill('gemm');
    await soon(async () => assert.match(await found.innerText(), /0 of 20/));
    await field.press('Escape');
    await soon(async () => assert.doesNotMatch(await found.innerText(), /of 20/));
    await tab(page, 'Operators').click();
    const operators = page.getByRole('searchbox', { name: 'Find an operator' });
    await operators.fill('addmm');
    await soon(async () => assert.equal(await table(page, 'Operators').getByRole('row').count(), 2));
    await operators.press('Escape');
    await soon(async () => assert.ok((await table(page, 'Operators').getByRole('row').count()) > 2));
  },

  async 'the details below the timeline have a height of their own, which is changed by drag and by keys, and kept'(
    keep,
  ) {
    const server = await made();
    // the drawer of runs is as wide as its viewer wants
    const wide = (page) =>
      page.addInitScript(() => (localStorage['seaboard.settings'] ??= JSON.stringify({ drawer: 700 })));
    const page = keep(await openTimeline(server, undefined, { before: wide }));
    await clickTrack(page, 'thread 4242', 0.1);
    const tall = async () => Math.round((await page.locator('.drawer').boundingBox()).height);
    await soon(async () => assert.equal(await tall(), 241)); // with its upper edge
    const grip = page.getByRole('separator', { name: 'Height of the details' });
    await grip.focus();
    await page.keyboard.press('ArrowUp');
    await soon(async () => assert.ok((await tall()) > 250));
    const before = await tall();
    const at = await grip.boundingBox();
    await page.mouse.move(at.x + 400, at.y + 3);
    await page.mouse.down();
    await page.mouse.move(at.x + 400, at.y - 97, { steps: 4 });
    await page.mouse.up();
    await soon(async () => assert.ok(Math.abs((await tall()) - before - 100) <= 2));
    const after = await tall();
    await address(page);
    await page.reload();
    await details(page).waitFor();
    await soon(async () => assert.equal(await tall(), after));
  },

  async 'marks of the profiler itself take no part in the sums of a range'(keep) {
    const trace = kineto();
    trace.traceEvents.push({
      ph: 'X',
      cat: 'Trace',
      name: 'PyTorch Profiler (0)',
      pid: 'Spans',
      tid: 'PyTorch Profiler',
      ts: 0,
      dur: 42_000,
    });
    const page = keep(await openTimeline(await made((logdir) => writeTrace(logdir, 'vit', 'host_1', trace))));
    await page.locator('.scroller').focus();
    await page.keyboard.press('m');
    await range(page).getByRole('row').filter({ hasText: 'gemm_128x128_nn' }).waitFor();
    assert.equal(await range(page).getByText('PyTorch Profiler').count(), 0);
  },

  async 'advice that the device waits leads to its gaps'(keep) {
    const trace = kineto({ matmuls: 1 });
    const page = keep(await openProfile(await made((logdir) => writeTrace(logdir, 'vit', 'host_1', trace))));
    const advice = page.getByRole('region', { name: 'What to do' });
    await advice.getByRole('button', { name: /Gaps in the timeline/ }).click();
    await soon(async () => assert.match(await details(page).innerText(), /^idle: /));
  },

  async 'the sentence names the work, where less of a step has no name; the host has no memory of a device'(keep) {
    const at = (cat, name, ts, dur) => ({ ph: 'X', cat, name, pid: 1, tid: 2, ts, dur });
    const gpu = kineto({ steps: 1 });
    for (const { name, args } of gpu.traceEvents) if (name === '[memory]') args['Device Type'] = 0;
    const host = { schemaVersion: 1, traceEvents: [] };
    for (let i = 0; i < 4; i++)
      host.traceEvents.push(
        at('user_annotation', `ProfilerStep#${i}`, i * 1000, 1000),
        at('cpu_op', 'aten::mm', i * 1000, 800),
      );
    const page = keep(await openProfile(await made((logdir) => writeTrace(logdir, 'host', 'host_1', host))));
    await soon(async () =>
      assert.match(await page.locator('.verdict h2').innerText(), /80\s% goes to work of the host/),
    );
    const other = keep(await openProfile(await made((logdir) => writeTrace(logdir, 'gpu', 'host_1', gpu))));
    await soon(async () => assert.match(await other.locator('.verdict').innerText(), /Memory peak\s+5\.0\sMB\s+CPU/i));
  },

  async 'ranks of one capture are listed by what their names share'(keep) {
    const server = await made((logdir) => {
      for (const rank of [0, 1]) writeTrace(logdir, 'ddp', `rank${rank}`, kineto({ rank, ranks: 2 }));
    });
    const page = keep(await openProfile(server));
    await soon(async () => assert.match(await page.getByRole('option').innerText(), /^rank\*\s*× 2/));
  },

  async 'where the tabs of pages have no room the open page is named in a list'(keep) {
    const page = keep(
      await open(await made(), '#profile&v=1&profile.page=kernels', { viewport: { width: 900, height: 700 } }),
    );
    const pages = page.getByRole('combobox', { name: 'Pages of the profile' });
    await soon(async () => assert.equal(await pages.inputValue(), 'kernels'));
    await pages.selectOption('Memory');
    await page.getByRole('img', { name: 'Memory over time' }).waitFor();
  },
};
