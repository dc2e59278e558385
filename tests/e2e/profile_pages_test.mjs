// Profiles: what leads from one page to another, and the controls of the pages that are chosen from lists.
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { address, ROOT, soon } from './harness.mjs';
import { RunWriter } from './logs.mjs';
import { downloaded, made, openProfile, openTimeline, painted, range, tab } from './profile_page.mjs';
import { kineto, writeTrace } from './profiles.mjs';

const isOpen = (page, name) =>
  soon(async () => assert.equal(await tab(page, name).first().getAttribute('aria-checked'), 'true'));

export default {
  async 'the overview leads to the operators, and its advice to the page that says more'(keep) {
    const page = keep(await openProfile(await made()));
    await page.getByRole('region', { name: 'Top operators' }).getByRole('button', { name: 'All operators' }).click();
    await isOpen(page, 'Operators');
    await page.getByRole('table', { name: 'Operators' }).waitFor();
    await tab(page, 'Overview').click();
    const advice = page.getByRole('region', { name: 'What to do' });
    await advice.getByRole('button', { name: 'Input', exact: true }).click();
    await isOpen(page, 'Input');
    await tab(page, 'Overview').click();
    await advice.getByRole('button', { name: /4 in the timeline/ }).click();
    await painted(page);
    await soon(async () => assert.match(await page.locator('[role=toolbar]').innerText(), /of 4/));
    await soon(async () => assert.match(await address(page), /profile\.advice=input/));
  },

  async 'the stages of the input are saved as CSV, and a stage leads to its slices'(keep) {
    const page = keep(await openProfile(await made(), '#profile&v=1&profile.page=input'));
    const stages = page.getByRole('region', { name: 'Stages' });
    const { name, text } = await downloaded(page, () => stages.getByRole('link', { name: 'CSV' }).click());
    assert.equal(name, 'input.csv');
    assert.match(text, /^name,part,calls[\s\S]*DataLoader.*,4,/);
    await stages.getByRole('button', { name: /DataLoader/ }).click();
    await painted(page);
    await soon(async () => assert.match(await page.locator('[role=toolbar]').innerText(), /of 4/));
  },

  async 'collectives are saved as CSV'(keep) {
    const server = await made((logdir) => {
      for (const rank of [0, 1]) writeTrace(logdir, 'ddp', `rank${rank}`, kineto({ rank, ranks: 2 }));
    });
    const page = keep(await openProfile(server, '#profile&v=1&profile.page=distributed'));
    const card = page.getByRole('region', { name: 'Collectives' });
    const { name, text } = await downloaded(page, () => card.getByRole('link', { name: 'CSV' }).click());
    assert.equal(name, 'collectives.csv');
    assert.match(text, /allreduce/i);
  },

  async 'the memory of another device is chosen from a list, and the address keeps it'(keep) {
    const trace = kineto();
    const ofDevice = trace.traceEvents.filter(({ name }) => name === '[memory]');
    for (const one of ofDevice)
      trace.traceEvents.push({
        ...one,
        args: { ...one.args, 'Device Type': 0, 'Device Id': -1, Bytes: one.args.Bytes / 2, 'Total Allocated': 250_000 },
      });
    const server = await made((logdir) => writeTrace(logdir, 'vit', 'host_1', trace));
    const page = keep(await openProfile(server, '#profile&v=1&profile.page=memory'));
    const device = page.getByRole('combobox', { name: 'Device' });
    const peak = page.locator('.bar').last();
    await soon(async () => assert.match(await peak.innerText(), /peak 5\.0 MB/));
    await device.selectOption({
      index: await device.locator('option', { hasText: 'CPU' }).evaluate((one) => one.index),
    });
    await soon(async () => assert.match(await peak.innerText(), /peak 250 kB/));
    await soon(async () => assert.match(await address(page), /profile\.memory=/));
    await page.reload();
    await soon(async () => assert.match(await peak.innerText(), /peak 250 kB/));
  },

  async 'more rows of a table are shown on demand'(keep) {
    const trace = kineto({ steps: 1 });
    for (let i = 0; i < 250; i++)
      trace.traceEvents.push({ ph: 'X', cat: 'cpu_op', name: `op ${i}`, pid: 9, tid: 9, ts: 20 * i, dur: 10 });
    const server = await made((logdir) => writeTrace(logdir, 'vit', 'host_1', trace));
    const page = keep(await openProfile(server, '#profile&v=1&profile.page=operators&profile.whose=host'));
    const table = page.getByRole('table', { name: 'Operators' });
    await soon(async () => assert.equal(await table.getAttribute('aria-rowcount'), '201'));
    await page.getByRole('button', { name: 'Show more' }).click();
    await soon(async () => assert.ok(Number(await table.getAttribute('aria-rowcount')) > 250));
    await soon(async () => assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0));
  },

  async 'the panel beside the timeline shows tracks or captures, and another capture begins at its whole time'(keep) {
    const server = await made((logdir) => {
      writeTrace(logdir, 'a', 'host_1', kineto());
      writeTrace(logdir, 'b', 'host_1', kineto({ steps: 2 }));
    });
    const page = keep(await openTimeline(server));
    const captures = page.getByRole('listbox', { name: 'Captures' });
    assert.equal(await captures.count(), 0);
    await page.locator('.scroller').focus();
    await page.keyboard.press('w');
    await page.keyboard.press('m');
    await range(page).waitFor();
    await soon(async () => assert.match(await address(page), /profile\.range=/));
    await page.getByRole('radio', { name: 'Captures 2' }).click();
    await captures.getByRole('option', { selected: false }).click();
    await soon(async () => assert.equal(await range(page).count(), 0));
    await soon(async () => assert.doesNotMatch(await address(page), /profile\.(window|range|slice)=/));
    await page.getByRole('radio', { name: /^Tracks/ }).click();
    await soon(async () => assert.equal(await captures.count(), 0));
    // one change, which is undone as one
    await page.keyboard.press('Control+z');
    await range(page).waitFor();
  },

  async 'a capture that is deleted is told to be gone, and the newest one is shown on demand'(keep) {
    let file;
    const server = await made((logdir) => {
      file = writeTrace(logdir, 'a', 'host_1', kineto());
      writeTrace(logdir, 'b', 'host_1', kineto({ steps: 2 }));
    });
    const page = keep(await openProfile(server));
    await page
      .getByRole('option', { name: /host_1/ })
      .first()
      .click();
    await soon(async () => assert.match(await page.locator('.verdict').innerText(), /Steps\n4/i));
    rmSync(file);
    await page.getByText('This capture is no longer there.').waitFor();
    await page.getByRole('button', { name: 'Show the newest capture' }).click();
    await soon(async () => assert.match(await page.locator('.verdict').innerText(), /Steps\n2/i));
  },

  async 'the line of training is of any scalar of the run'(keep) {
    const server = await made((logdir) => {
      const start = 1_794_737_000;
      const run = new RunWriter(logdir, 'vit', start);
      for (let step = 0; step <= 20; step++) run.scalars(step, { loss: 1 / (1 + step), accuracy: step / 20 });
      run.flush();
      writeTrace(logdir, 'vit', 'host_1', kineto(), { seconds: start + 10 });
    });
    const page = keep(await openProfile(server));
    const chart = page.getByRole('region', { name: 'Training and captures' });
    await soon(async () => assert.match(await chart.getByRole('img').getAttribute('aria-label'), /^loss · vit/));
    await chart.getByRole('combobox', { name: 'Scalar' }).selectOption('accuracy');
    await soon(async () => assert.match(await chart.getByRole('img').getAttribute('aria-label'), /^accuracy · vit/));
    await soon(async () => assert.match(await address(page), /profile\.metric=accuracy/));
  },

  async 'ranks are called by their numbers, whatever their files are called'(keep) {
    const server = await made((logdir) => {
      for (const rank of [0, 1])
        writeTrace(logdir, 'ddp', `a-node-with-a-long-name.rank${rank}`, kineto({ rank, ranks: 2 }));
    });
    const page = keep(await openProfile(server));
    const idle = page.getByRole('region', { name: 'Device idle' });
    await soon(async () => assert.match(await idle.innerText(), /rank 0\s[\s\S]*rank 1\s/));
    assert.doesNotMatch(await idle.innerText(), /long-name/);
    const advice = page.getByRole('region', { name: 'What to do' });
    await soon(async () => assert.match(await advice.innerText(), /rank \d comes last to collectives/));
  },

  async 'C++ names are short on every page, and in sentences'(keep) {
    const long = (name) => `void at::native::${name}<4, ${'std::pair<int, float>, '.repeat(30)}int>(int)`;
    const trace = kineto();
    for (const one of trace.traceEvents) {
      if (one.cat === 'kernel') one.name = long('fill_kernel');
      if (one.name === 'aten::addmm') one.name = long('aten::addmm');
    }
    const server = await made((logdir) => {
      for (const run of ['a', 'b']) writeTrace(logdir, run, 'host_1', trace);
    });
    const page = keep(await openProfile(server));
    const what = page.getByRole('region', { name: 'What to do' });
    await soon(async () => assert.match(await what.innerText(), /such as addmm<4, pair<int, float>.*…/));
    for (const [name, text] of [
      ['Top operators', /^addmm<4, pair/m],
      ['Critical path', /^addmm<4, pair/m],
    ])
      await soon(async () => assert.match(await page.getByRole('region', { name }).innerText(), text));
    await tab(page, 'Compare').click();
    await page.getByRole('combobox', { name: 'Compare with' }).selectOption({ index: 1 });
    await tab(page, 'Kernels').last().click();
    const table = page.getByRole('table', { name: 'Compare' });
    await soon(async () => assert.match(await table.getByRole('row').nth(1).innerText(), /^fill_kernel<4, pair/));
  },

  async 'long names of runs end within the list of captures'(keep) {
    const run = `sweep/${'learning_rate=0.001,'.repeat(10)}`;
    const page = keep(await openProfile(await made((logdir) => writeTrace(logdir, run, 'host_1', kineto()))));
    const list = page.getByRole('listbox', { name: 'Captures' });
    const name = list.getByText(run);
    await soon(async () => {
      const [inner, outer] = [await name.boundingBox(), await list.boundingBox()];
      assert.ok(inner.x + inner.width <= outer.x + outer.width - 12, `${inner.x + inner.width}`);
    });
    const how = await name.evaluate((one) => [getComputedStyle(one).display, getComputedStyle(one).textOverflow]);
    assert.deepEqual(how, ['block', 'ellipsis']);
  },

  async 'waits for input are titled with names of their own where steps share one'(keep) {
    const server = await made((logdir) =>
      cpSync(join(ROOT, 'tests/fixtures/tf/keras/logs/train/plugins'), join(logdir, 'keras/plugins'), {
        recursive: true,
      }),
    );
    const page = keep(await openProfile(server, '#profile&v=1&profile.page=input'));
    const bars = page.getByRole('region', { name: 'Waiting for input, by step' });
    await soon(async () => assert.match(await bars.innerHTML(), /Profiled batch 2/));
  },

  async 'bars beside numbers are as long as the numbers are large'(keep) {
    const at = (name, cat, ts, dur) => ({ ph: 'X', cat, name, pid: 1, tid: 2, ts, dur });
    const ops = [596_874, 543_328, 97_431];
    const traceEvents = [at('ProfilerStep#1', 'user_annotation', 0, 1_300_000)];
    ops.forEach((dur, i) => traceEvents.push(at(`aten::op${i}`, 'cpu_op', 1 + i * 600_000, dur)));
    const server = await made((logdir) => writeTrace(logdir, 'vit', 'host_1', { schemaVersion: 1, traceEvents }));
    const page = keep(await openProfile(server));
    for (const name of ['Top operators', 'Critical path']) {
      const rows = page.getByRole('region', { name }).getByRole('row').filter({ hasText: 'aten::op' });
      await soon(async () => assert.equal(await rows.count(), 3));
      const long = await rows.locator('.bar').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width));
      assert.ok(Math.abs(long[1] / long[0] - ops[1] / ops[0]) < 0.03, `${name}: ${long}`);
    }
  },
};
