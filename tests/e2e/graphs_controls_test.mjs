// The controls of graphs, one by one: which graph, edges, colours, switches, card, table, zoom, files that take long. What
// is painted is read from the SVG export, which the same code paints.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  everything,
  flat,
  graphDef,
  kerasModel,
  long,
  measuredOutput,
  onnxModel,
  runMetadata,
  traced,
  transformer,
} from './graphs.mjs';
import { CANVAS, card, drawingOf, isOpen, labels, openGraph, placeOf, row, scaleOf, toggle } from './graphs_page.mjs';
import { address, open, serve, sharedServer, soon } from './harness.mjs';
import { RunWriter } from './logs.mjs';

const made = (graph) => serve('fresh', (logdir) => void new RunWriter(logdir, 'r').graph(graph).flush());
const shared = sharedServer((logdir) => void new RunWriter(logdir, 'r').graph(everything()).flush());
const WIDE = { viewport: { width: 2200, height: 900 } }; // every control is in the bar
const CLOSED = '#graphs&graphs.open=,';
const ACCENT = '#0b6bcb';
const legendOf = (page) => page.locator('section[aria-label=Legend]');
/** What colour the legend gives to a text, as the drawing writes colours. */
const swatch = (page, text) =>
  legendOf(page)
    .locator('p', { hasText: text })
    .locator('i')
    .evaluate((i) =>
      i.style.background.replace(
        /rgb\((\d+), (\d+), (\d+)\)/,
        (_, ...rgb) =>
          `#${rgb
            .slice(0, 3)
            .map((n) => Number(n).toString(16).padStart(2, '0'))
            .join('')}`,
      ),
    );
async function viewForm(page) {
  await page.getByRole('button', { name: /^View/ }).click();
  const form = page.getByRole('dialog').filter({ has: page.getByLabel('Show constants') });
  await form.waitFor();
  return form;
}

export default {
  async 'run, trace, Keras model and measured step are chosen, and each shows its own graph and times'(keep) {
    const server = await serve('fresh', (logdir) => {
      const graph = graphDef([
        { name: 'slow', op: 'MatMul' },
        { name: 'quick', op: 'Relu', inputs: ['slow'] },
      ]);
      new RunWriter(logdir, 'model')
        .graph(graph)
        .runMetadata('step 100', runMetadata({ slow: [30, 4000], quick: [10, 1000] }), 100)
        .runMetadata('step 200', runMetadata({ slow: [70, 9000], quick: [20, 2000] }), 200)
        .graphBlob('train_step', 'graph_run_metadata_graph', traced(graphDef([{ name: 'traced_op', op: 'Mul' }])))
        .graphBlob('keras', 'graph_keras_model', kerasModel())
        .flush();
      new RunWriter(logdir, 'try')
        .graphBlob('batch_4', 'graph_run_metadata_graph', traced(flat(50)))
        .graphBlob('keras', 'graph_keras_model', kerasModel())
        .flush();
    });
    const page = keep(await openGraph(server, '#graphs&graphs.run=model&graphs.colour=time', WIDE));
    // the last step is shown; another one brings its own times, sums and colours
    const step = page.getByLabel('Step whose measurements');
    await soon(async () => assert.match(await row(page, 'slow').innerText(), /70 µs/));
    await soon(async () => assert.match(await legendOf(page).innerText(), /70 µs/));
    await step.selectOption('step 100');
    await soon(async () => assert.match(await row(page, 'slow').innerText(), /30 µs/));
    await soon(async () => assert.match(await legendOf(page).innerText(), /30 µs/));
    await row(page, 'quick').click();
    await soon(async () => assert.match(await card(page).innerText(), /10 µs[\s\S]*25\s?%[\s\S]*1\.0 kB/));
    await page.locator('label.colour select').selectOption('memory');
    await soon(async () => assert.match(await legendOf(page).innerText(), /4\.0 kB/));
    await soon(async () => assert.match(await address(page), /graphs\.stats=step/));

    const graph = page.getByLabel('Which graph of the run');
    await graph.selectOption({ label: 'Trace: train_step' });
    await soon(async () => assert.deepEqual(await labels(page), ['traced_op']));
    await graph.selectOption({ label: 'Keras model: keras' });
    await soon(async () => assert.ok((await labels(page)).includes('logits')));
    await soon(async () => assert.match(await row(page, 'digits/logits').innerText(), /7.850/));
    await soon(async () => assert.match(await address(page), /graphs\.tag=keras/));
    await graph.selectOption({ label: 'Run graph' });
    await soon(async () => assert.deepEqual(await labels(page), ['slow', 'quick']));

    await page.locator('button:has(b.run)').first().click();
    await page.getByRole('option', { name: 'try' }).click();
    await soon(async () => assert.ok((await labels(page)).includes('logits'))); // the model, not the larger trace
    await soon(async () => assert.match(await address(page), /graphs\.run=try/));
  },

  async 'edges are as wide as their tensors are large, dashed for control, end at open boxes, and tell shapes unless that is off'(
    keep,
  ) {
    const page = keep(await openGraph(await made(everything()), `${CLOSED}&graphs.at=join`));
    await soon(async () => assert.match(await card(page).innerText(), /Inputs/));
    const closed = await drawingOf(page);
    const widths = closed.lines.map(({ width }) => width);
    // 1 element, and a million of them; what is at the selected box is a little wider and in another colour
    for (const width of [1.2, 1.2 + 6 * 0.45 + 0.6, 1.2 + 0.6])
      assert.ok(
        widths.some((w) => Math.abs(w - width) < 0.02),
        `${width} in ${widths}`,
      );
    assert.equal(closed.lines.filter(({ isDashed }) => isDashed).length, 1);
    const colours = (lines) => new Set(lines.map(({ stroke }) => stroke)).size;
    assert.equal(colours(closed.lines), 2);
    assert.equal(closed.heads, closed.lines.length);
    assert.ok(closed.texts.includes('1000 × 1000'));

    await toggle(page, 'enc');
    await isOpen(page, 'enc');
    const opened = await drawingOf(page);
    assert.ok(opened.lines.length > closed.lines.length);
    assert.ok(opened.heads < opened.lines.length); // a line that ends at a border goes on behind it

    const form = await viewForm(page);
    await form.getByLabel('Shapes on edges').uncheck();
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'hidden' });
    const bare = await drawingOf(page);
    assert.ok(!bare.texts.includes('1000 × 1000'));
    assert.equal(bare.lines.length, opened.lines.length);

    await page.locator(CANVAS).focus();
    await page.keyboard.press('Escape');
    await soon(async () => assert.equal(await card(page).count(), 0));
    assert.equal(colours((await drawingOf(page)).lines), 1);
  },

  async 'an edge for several tensors of unknown shapes tells how many'(keep) {
    const graph = graphDef([
      { name: 'a/x', op: 'Relu' },
      { name: 'a/y', op: 'Relu' },
      { name: 'b/x', op: 'Neg', inputs: ['a/x'] },
      { name: 'b/y', op: 'Abs', inputs: ['a/y'] },
    ]);
    const page = keep(await openGraph(await made(graph), CLOSED));
    await soon(async () => assert.deepEqual(await labels(page), ['a', 'b']));
    assert.ok((await drawingOf(page)).texts.includes('2 tensors'));
  },

  async 'switches take out what many use, show constants, and trace inputs, which are marked'(keep) {
    const page = keep(await openGraph(await shared(), '#graphs&graphs.open=many&graphs.at=join'));
    const auxiliary = page.locator('section.aside');
    await soon(async () => assert.match(await auxiliary.innerText(), /hub\s+16 uses/));
    await auxiliary.getByRole('button', { name: /hub/ }).click();
    await soon(async () => assert.equal(await card(page).locator('code.whole').innerText(), 'many/hub'));
    let drawn = await drawingOf(page);
    assert.ok(!drawn.boxes.has('hub') && !drawn.boxes.has('half'));
    await row(page, 'join').click();
    await soon(async () => assert.match(await card(page).innerText(), /1 constant\b/));

    const form = await viewForm(page);
    await form.getByLabel('Take out nodes that many use').uncheck();
    await soon(async () => assert.equal(await auxiliary.count(), 0));
    await form.getByLabel('Show constants').check();
    await soon(async () => assert.ok((await labels(page)).includes('half')));
    await form.getByLabel('Trace inputs').check();
    await soon(async () => assert.match(await card(page).innerText(), /5 operations feed it/));
    await soon(async () => assert.match(await address(page), /graphs\.constants=on&graphs\.extract=off/));
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'hidden' });
    drawn = await drawingOf(page);
    assert.ok(drawn.boxes.has('hub') && drawn.boxes.has('half'));
    const strokes = drawn.lines.map(({ stroke }) => stroke);
    assert.equal(strokes.filter((stroke) => stroke === ACCENT).length, 6); // what leads to join, and to what feeds it

    // the key does the same, and so does the card
    await page.locator(CANVAS).focus();
    await page.keyboard.press('i');
    await soon(async () => assert.doesNotMatch(await card(page).innerText(), /feed it/));
  },

  async 'boxes have the colours of the legend: XLA clusters, devices, structure, what a TPU can’t run, with its score'(
    keep,
  ) {
    const page = keep(await openGraph(await shared(), CLOSED));
    const colour = page.locator('label.colour select');
    const show = async (value, text) => {
      await colour.selectOption(value);
      await soon(async () => assert.match(await legendOf(page).innerText(), text));
      return (await drawingOf(page)).boxes;
    };
    let boxes = await show('cluster', /cluster_1 · 2[\s\S]*cluster_2 · 1/);
    const cluster = await swatch(page, 'cluster_1');
    assert.deepEqual(
      ['xla_a', 'xla_b'].map((name) => boxes.get(name).fill),
      [cluster, cluster],
    );
    assert.notEqual(boxes.get('xla_c').fill, cluster);
    assert.equal(boxes.get('xla_c').fill, await swatch(page, 'cluster_2'));
    boxes = await show('device', /CPU:0[\s\S]*/);
    assert.equal(boxes.get('in').fill, await swatch(page, 'CPU:0'));
    assert.equal(boxes.get('join').fill, await swatch(page, 'GPU:0'));
    boxes = await show('structure', /Structure/);
    assert.equal(boxes.get('left').fill, boxes.get('right').fill);
    assert.notEqual(boxes.get('left').fill, boxes.get('host').fill);
    boxes = await show('tpu', /can’t run/);
    assert.equal(boxes.get('join').fill, await swatch(page, 'runs on a TPU'));
    assert.equal(boxes.get('host').fill, await swatch(page, 'can’t run on a TPU')); // the half of it can't

    await row(page, 'host').click();
    await soon(async () => assert.match(await card(page).innerText(), /50\s?% of the operations run on a TPU/));
    await card(page).getByRole('button', { name: 'host/call', exact: true }).first().click();
    await soon(async () => assert.equal(await card(page).locator('h2').innerText(), 'call'));
    await isOpen(page, 'host');
  },

  async 'the card tells kind, size, attributes, control edges, measured outputs and boxes alike, and copies the name'(
    keep,
  ) {
    const server = await serve('fresh', (logdir) => {
      new RunWriter(logdir, 'r')
        .graph(everything())
        .runMetadata('step 1', measuredOutput('join', 40, [1000, 1000], 4_000_000), 1)
        .flush();
    });
    const page = keep(
      await openGraph(server, `${CLOSED}&graphs.at=join`, { permissions: ['clipboard-read', 'clipboard-write'] }),
    );
    const has = (part) => soon(async () => assert.match(await card(page).innerText(), part));
    await has(/AddV2/);
    await has(/40 µs[\s\S]*4\.0 MB/);
    await has(/Inputs\s+4 · 1 constant[\s\S]*enc\/big\s+1000 × 1000[\s\S]*init\s+control/);
    await has(/Outputs\s+1[\s\S]*xla_a/);
    await has(/Device\s+GPU:0/);
    await has(/Outputs, measured 0\s+1000 × 1000 · 4\.0 MB/);
    await card(page).getByRole('button', { name: 'Copy name' }).click();
    await soon(async () => assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'join'));
    await card(page).getByRole('button', { name: 'xla_a', exact: true }).click();
    await has(/_XlaCluster\s+"?cluster_1/);
    await row(page, 'many').click();
    await has(/Contents\s+17\s+operations/);
    await has(/Kinds of operations\s+Abs\s+16\s+Identity\s+1/);
    assert.doesNotMatch(await card(page).innerText(), /Attributes/); // it has none
    await row(page, 'left').click();
    await has(/1 of the same structure\s+right/);
    await card(page).getByRole('button', { name: 'Close', exact: true }).click();
    await soon(async () => assert.equal(await card(page).count(), 0));
  },

  async 'the table is filtered by name and kind, the crumbs lead up, and hits are listed page by page'(keep) {
    const server = await serve('fresh', (logdir) => {
      new RunWriter(logdir, 'deep').graph(transformer().graph).flush();
      new RunWriter(logdir, 'wide').graph(flat(1200)).flush();
    });
    const at = encodeURIComponent('vit/blocks/block_7/attn/softmax');
    const page = keep(await openGraph(server, `#graphs&graphs.run=deep&graphs.at=${at}`));
    const filter = page.getByLabel('Filter modules');
    await filter.fill('SOFTMAX');
    await soon(async () => assert.deepEqual(await labels(page), ['softmax']));
    await filter.fill('slice'); // their kind
    await soon(async () => assert.deepEqual((await labels(page)).toSorted(), ['k', 'q', 'v']));
    await filter.fill('');
    await soon(async () => assert.ok((await labels(page)).length > 10));
    await page.locator('nav.crumbs').getByRole('button', { name: 'blocks', exact: true }).click();
    await soon(async () => assert.equal(await card(page).locator('code.whole').innerText(), 'vit/blocks'));
    await soon(async () => assert.match(await page.locator('nav.crumbs').innerText(), /^vit\s*›\s*blocks$/));
    await page.locator(CANVAS).focus();
    // the runs are in the same place: by key, by the switch, and by the strip that stands for them
    const modules = page.locator('aside[aria-label=Modules]');
    const filterRuns = page.getByPlaceholder(/^Filter runs/);
    await page.keyboard.press('g');
    await soon(async () => assert.deepEqual([await modules.count(), await filterRuns.count()], [0, 1]));
    await page.getByRole('radio', { name: 'Modules' }).click();
    await soon(async () => assert.deepEqual([await modules.count(), await filterRuns.count()], [1, 0]));
    await page.locator('.strip').click();
    await soon(async () => assert.deepEqual([await modules.count(), await filterRuns.count()], [0, 1]));
    await page.keyboard.press('g');
    await soon(async () => assert.deepEqual([await modules.count(), await filterRuns.count()], [1, 0]));
    await page.keyboard.press('r');
    await soon(async () => assert.deepEqual([await modules.count(), await filterRuns.count()], [0, 1]));
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.waitForSelector('.row[id^=module-]');

    await page.locator('button:has(b.run)').first().click();
    await page.getByRole('option', { name: 'wide' }).click();
    await soon(async () => assert.ok((await labels(page)).includes('op0x')));
    await page.locator('#graph-find').fill('op');
    await soon(async () => assert.match(await page.locator('.find .count').innerText(), /1 of 1.200/));
    await page.locator('.find .count').click();
    const hits = page.getByRole('dialog', { name: 'Nodes found' });
    await hits.getByRole('button', { name: '›' }).click();
    await soon(async () => assert.match(await hits.innerText(), /501–1.000 \/ 1.200/));
    await hits.getByRole('option', { name: /^op500x/ }).click();
    await soon(async () => assert.equal(await card(page).locator('code.whole').innerText(), 'op500x'));
    await soon(async () => assert.match(await page.locator('.find .count').innerText(), /501 of/));
  },

  async 'buttons and keys zoom, fit and pan, and arrows go along the edges'(keep) {
    const page = keep(await openGraph(await shared(), CLOSED));
    const whole = await scaleOf(page);
    const press = (name) => page.getByRole('button', { name }).click();
    await press('Zoom in (+)');
    await soon(async () => assert.ok(Math.abs((await scaleOf(page)) / whole - 1.4) < 0.01));
    await press('Zoom out (−)');
    await press('Zoom out (−)');
    await soon(async () => assert.ok((await scaleOf(page)) < whole * 0.8));
    await press('Fit to the window (0)');
    await soon(async () => assert.equal(await scaleOf(page), whole));
    await page.locator(CANVAS).focus();
    await page.keyboard.press('+');
    await soon(async () => assert.ok(Math.abs((await scaleOf(page)) / whole - 1.4) < 0.01));
    const [x, y] = await placeOf(page);
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Shift+ArrowDown');
    await soon(async () => {
      const [x2, y2] = await placeOf(page);
      assert.ok(x2 > x && y2 > y, `${x2} ${y2} ${x} ${y}`);
    });
    await page.keyboard.press('Home');
    await soon(async () => assert.equal(await scaleOf(page), whole));
    const at = (name) => soon(async () => assert.equal(await card(page).locator('code.whole').innerText(), name));
    await row(page, 'join').click();
    await at('join');
    await page.locator(CANVAS).focus();
    await page.keyboard.press('ArrowDown');
    await at('xla_a');
    await page.keyboard.press('ArrowDown');
    await at('xla_b');
    await page.keyboard.press('ArrowUp');
    await at('xla_a');
    await row(page, 'left').click();
    await at('left');
    await page.locator(CANVAS).focus();
    await page.keyboard.press('ArrowRight');
    await at('right');
  },

  async 'a large file is read behind a progress bar, and Cancel gives it up'(keep) {
    const server = await shared();
    const page = keep(await openGraph(server, CLOSED));
    const file = join(server.logdir, 'large.pb');
    writeFileSync(file, long(220));
    // the job is held at 30 % for as long as it is looked at
    const job = /api\/v1\/job\?id=/;
    const cancelled = [];
    await page.route(job, async (route) => {
      if (route.request().method() === 'DELETE') {
        cancelled.push(route.request().url());
        return route.continue();
      }
      const reply = await route.fetch();
      const json = await reply.json();
      return route.fulfill({
        response: reply,
        json: { ...json, job: { ...json.job, state: 'running', done: 300, total: 1000 } },
      });
    });
    await page.locator('input[type=file]').setInputFiles(file);
    const busy = page.locator('.busy');
    await soon(async () => assert.match(await busy.innerText(), /Reading large\.pb…[\s\S]*30\s?%/));
    await soon(async () => assert.equal(await busy.locator('progress').evaluate((bar) => bar.value), 0.3));
    await busy.getByRole('button', { name: 'Cancel' }).click();
    await soon(async () => assert.equal(await busy.count(), 0));
    await soon(async () => assert.equal(cancelled.length, 1));
    assert.ok((await labels(page)).includes('join')); // what was shown stays
    await page.unroute(job);
    await page.locator('input[type=file]').setInputFiles(file);
    await soon(async () => assert.match(await page.locator('.chip.file').innerText(), /large\.pb/));
    await soon(async () => assert.deepEqual(await labels(page), ['net', 'block[0-219]']));
  },

  async 'a drawing that failed is told over the older one, and can be tried again'(keep) {
    const page = keep(await openGraph(await shared(), CLOSED));
    const draw = /api\/v1\/graph\/draw/;
    const jobs = /api\/v1\/jobs$/;
    // as for a drawing that is too large for a reply, by a job that fails
    await page.route(draw, async (route) => {
      const reply = await route.fetch();
      return route.fulfill({ response: reply, json: { ...(await reply.json()), isLarge: true } });
    });
    await page.route(jobs, (route) =>
      route.fulfill({
        json: { version: 1, job: { id: 7, state: 'failed', done: 0, total: 0, error: 'there is no memory' } },
      }),
    );
    await toggle(page, 'enc');
    const failed = page.locator('.failed');
    await soon(async () => assert.match(await failed.innerText(), /older[\s\S]*there is no memory/));
    assert.ok((await labels(page)).includes('join'));
    await page.unroute(draw);
    await page.unroute(jobs);
    await failed.getByRole('button', { name: 'Try now' }).click();
    await isOpen(page, 'enc');
    await soon(async () => assert.equal(await failed.count(), 0));
  },

  async 'an ONNX file is drawn with its weights, shapes and ends; a graph without nodes says so'(keep) {
    const page = keep(await openGraph(await shared(), CLOSED));
    const give = (name, buffer) =>
      page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
    await give('net.onnx', onnxModel());
    await soon(async () => assert.match(await page.locator('.message').innerText(), /net\.onnx opened \(ONNX\)/));
    await soon(async () => assert.match(await row(page, 'fc').innerText(), /12/)); // parameters, 4 × 3
    await toggle(page, 'fc');
    await soon(async () =>
      assert.match(await page.locator('aside[aria-label=Modules] footer').innerText(), /12 parameters/),
    );
    await row(page, 'fc/MatMul').click();
    await soon(async () => assert.match(await card(page).innerText(), /x\s+2 × 4/));
    await give('cut.onnx', onnxModel().subarray(0, 60));
    await soon(async () => assert.match(await page.locator('p.notes').innerText(), /Only a part could be read/));
    await give('none.pbtxt', Buffer.from('versions { producer: 1395 }'));
    await soon(async () => assert.match(await page.locator('.stage').innerText(), /This graph has no nodes/));
  },

  async 'a link to a file works again after a restart of the server, once the file is given again'(keep) {
    const server = await made(everything());
    const give = (page) =>
      page.locator('input[type=file]').setInputFiles({
        name: 'tiny.pbtxt',
        mimeType: 'text/plain',
        buffer: Buffer.from(
          "node { name: 'in' op: 'Placeholder' } node { name: 'net/out' op: 'Relu' input: 'in' } node { name: 'net/w' op: 'Abs' }",
        ),
      });
    const first = keep(await openGraph(server, CLOSED));
    await give(first);
    await soon(async () => assert.ok((await labels(first)).includes('in')));
    await row(first, 'net/out').click();
    await soon(async () => assert.match(await address(first), /graphs\.at=net\/out&graphs\.file=[0-9a-f]{32}/));
    const link = await address(first);
    await server.stop();
    await server.start();
    const page = keep(await open(server, link, { allowErrors: true }));
    await soon(async () =>
      assert.match(await page.locator('.stage').innerText(), /no longer has tiny\.pbtxt[\s\S]*Drop the file here/),
    );
    await give(page);
    await soon(async () => assert.equal(await card(page).locator('code.whole').innerText(), 'net/out'));
    await isOpen(page, 'net');
    const file = /graphs\.file=\w+/.exec(link)[0]; // it has the name that it had
    await soon(async () => assert.ok((await address(page)).includes(file)));
  },
};
