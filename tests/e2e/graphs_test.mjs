// Graphs: scopes that open, search, trace, path, difference, measurements, colours, files, keys, both languages and
// themes, and graphs that are odd, cut or very large.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { RunWriter } from './logs.mjs';
import { calls, flat, graphDef, long, numberedKeras, recursion, transformer, wide } from './graphs.mjs';
import { CANVAS, card, isOpen, labels, openGraph, row, toggle } from './graphs_page.mjs';
import { address, axe, open, serve, shot, soon } from './harness.mjs';

/** Two runs with a graph each; the second has another head. */
function write(logdir) {
  const one = transformer();
  new RunWriter(logdir, 'vit-b16', 1_763_000_000).graph(one.graph).runMetadata('step 100', one.stats, 100).flush();
  const other = transformer(12, (nodes) => {
    nodes.find(({ name }) => name === 'vit/head/MatMul').op = 'BatchMatMulV2';
    nodes.push({
      name: 'vit/distill/MatMul',
      op: 'MatMul',
      inputs: ['vit/norm/LayerNorm'],
    });
    nodes.splice(
      nodes.findIndex(({ name }) => name === 'loss/mean'),
      1,
    );
  });
  new RunWriter(logdir, 'vit-distilled', 1_763_000_001).graph(other.graph).flush();
}
const made = (fill = write) => serve('fresh', fill);

export default {
  async 'a graph opens with its top scopes in reading order, repeats folded and all parameters counted'(keep) {
    const page = keep(await openGraph(await made()));
    await soon(async () => {
      const shown = await labels(page);
      assert.deepEqual(
        shown.filter((l) => ['image', 'vit', 'patch_embed', 'blocks', 'norm', 'head', 'loss'].includes(l)),
        ['image', 'vit', 'patch_embed', 'blocks', 'norm', 'head', 'loss'],
      );
    });
    await soon(async () =>
      assert.match(
        await page.locator('aside[aria-label=Modules] footer').innerText(),
        /operations · 86\.\d\sM parameters/,
      ),
    );
    await isOpen(page, 'vit/blocks');
    const series = row(page, 'vit/blocks/block[0-11]');
    await soon(async () => assert.equal(await series.getAttribute('aria-expanded'), 'false'));
    await soon(async () => assert.match(await series.innerText(), /×12/));
    await shot(page, 'graphs');
  },

  async 'a scope that is nearly all of a graph is open at first, gradients that are half of one are not'(keep) {
    const ops = (scope, count) =>
      Array.from({ length: count }, (_, i) => ({ name: `${scope}/op_${'abcdefghi'[i]}`, op: `Op${i}` }));
    const server = await made((logdir) => {
      const training = graphDef([...ops('layer', 4), ...ops('loss', 2), ...ops('gradients', 8)]);
      new RunWriter(logdir, 'training', 1_763_000_000).graph(training).flush();
      new RunWriter(logdir, 'model', 1_763_000_001).graph(graphDef([...ops('net', 8), ...ops('loss', 1)])).flush();
    });
    const training = keep(await openGraph(server, '#graphs&v=1&graphs.run=training'));
    await soon(async () => assert.deepEqual((await labels(training)).sort(), ['gradients', 'layer', 'loss']));
    const model = keep(await openGraph(server, '#graphs&v=1&graphs.run=model'));
    await soon(async () => assert.ok((await labels(model)).includes('op_a')));
  },

  async 'a scope opens and closes by double click, by Enter and from the table, and the address says what is open'(
    keep,
  ) {
    const page = keep(await openGraph(await made()));
    await row(page, 'vit/head').click();
    await soon(async () => assert.equal(await card(page).locator('code.whole').innerText(), 'vit/head'));
    await page.locator(CANVAS).focus();
    await page.keyboard.press('Enter');
    await isOpen(page, 'vit/head');
    await soon(async () => assert.match(await address(page), /graphs\.open=[^&]*vit(%2F|\/)head/));
    await page.keyboard.press('Enter');
    await soon(async () => assert.equal(await row(page, 'vit/head').getAttribute('aria-expanded'), 'false'));
    // the box is in the middle after it was brought into sight: a double click there opens it
    await page.keyboard.press('0');
    await row(page, 'vit/head').dblclick();
    await isOpen(page, 'vit/head');
    await page.keyboard.press('Control+z');
    await soon(async () => assert.equal(await row(page, 'vit/head').getAttribute('aria-expanded'), 'false'));
  },

  async 'a link to a node opens the scopes above it'(keep) {
    const at = 'vit/blocks/block_7/attn/softmax';
    const page = keep(await openGraph(await made(), `#graphs&graphs.at=${encodeURIComponent(at)}`));
    await soon(async () => assert.equal(await card(page).locator('h2').innerText(), 'softmax'));
    await isOpen(page, 'vit/blocks/block_7/attn');
    await soon(async () =>
      assert.match(
        await page.locator('nav.crumbs').innerText(),
        /vit\s*›\s*blocks\s*›\s*block\[0-11\]\s*›\s*block_7\s*›\s*attn\s*›\s*softmax/,
      ),
    );
    for (const part of [
      /Softmax/,
      /µs/,
      /compute time/,
      /1\.0 MB/,
      /64 × 12 × 197 × 197/,
      /Inputs\s*1/,
      /scores/,
      /mixed/,
      /GPU:0/,
    ])
      await soon(async () => assert.match(await card(page).innerText(), part));
    // the scope above may be closed again although the node in it is selected
    await toggle(page, 'vit/blocks');
    await soon(async () => assert.equal(await row(page, 'vit/blocks').getAttribute('aria-expanded'), 'false'));
  },

  async 'every node is found by its name, and arrows walk through the hits'(keep) {
    const page = keep(await openGraph(await made()));
    await page.keyboard.press('f');
    await page.keyboard.type('SOFTMAX');
    await soon(async () => assert.match(await page.locator('.find .count').innerText(), /1 of 12/));
    await page.keyboard.press('Enter');
    await soon(async () => assert.match(await card(page).locator('code.whole').innerText(), /block_0\/attn\/softmax/));
    await page.keyboard.press('Enter');
    await soon(async () => assert.match(await card(page).locator('code.whole').innerText(), /block_1\/attn\/softmax/));
    await page.getByRole('button', { name: 'Previous node found' }).click();
    await soon(async () => assert.match(await page.locator('.find .count').innerText(), /1 of 12/));
    // Enter within the task of the last letter: the hits are still to come
    await page.locator('#graph-find').evaluate((input) => {
      input.value = 'patch_embed';
      input.dispatchEvent(new InputEvent('input', { bubbles: true }));
      input.dispatchEvent(
        new KeyboardEvent('keydown', {
          key: 'Enter',
          bubbles: true,
          cancelable: true,
        }),
      );
    });
    await soon(async () => assert.match(await card(page).locator('code.whole').innerText(), /patch_embed/));
    await page.getByRole('button', { name: 'Regular expression' }).click();
    await page.locator('#graph-find').fill('block_1\\d/.*q$');
    await soon(async () => assert.match(await page.locator('.find .count').innerText(), /1 of 2/));
    await page.locator('.find .count').click();
    await soon(async () => assert.equal(await page.locator('.hit').count(), 2));
    await page.keyboard.press('Escape');
    await page.locator('#graph-find').fill('block_(');
    await soon(async () => assert.equal(await page.locator('.find.wrong').count(), 1));
  },

  async 'inputs are traced, and the path between two nodes is told'(keep) {
    const page = keep(await openGraph(await made(), '#graphs&graphs.at=vit%2Fhead%2FBiasAdd'));
    await card(page).getByRole('button', { name: 'Trace inputs' }).click();
    await soon(async () => assert.match(await card(page).innerText(), /\d+ operations feed it/));
    await soon(async () => assert.match(await address(page), /graphs\.trace=on/));
    await card(page).getByRole('button', { name: 'Path to…' }).click();
    await soon(async () => assert.match(await page.locator('p.pick').innerText(), /other end/));
    const [notice, crumbs] = [
      await page.locator('p.pick').boundingBox(),
      await page.locator('nav.crumbs').boundingBox(),
    ];
    assert.ok(notice.y >= crumbs.y + crumbs.height, `${notice.y} ${crumbs.y + crumbs.height}`);
    await row(page, 'loss').click();
    await soon(async () => assert.match(await card(page).innerText(), /2 operations from here to loss/));
    await soon(async () => assert.match(await address(page), /graphs\.path=loss/));
    await card(page).getByRole('button', { name: 'Remove the path' }).click();
    await soon(async () => assert.doesNotMatch(await card(page).innerText(), /operations from here/));
  },

  async 'colours tell structure, device, time, memory and TPU compatibility, with a legend'(keep) {
    const page = keep(await openGraph(await made()));
    const colour = page.locator('label.colour select');
    const legend = page.locator('section[aria-label=Legend]');
    for (const [value, text] of [
      ['structure', /Structure/],
      ['device', /GPU:0/],
      ['time', /Compute time[\s\S]*ms/],
      ['memory', /Memory[\s\S]*MB/],
      ['tpu', /can’t run/],
    ]) {
      await colour.selectOption(value);
      await soon(async () => assert.match(await legend.innerText(), text));
    }
    await soon(async () => assert.match(await address(page), /graphs\.colour=tpu/));
    await colour.selectOption('none');
    await soon(async () => assert.equal(await legend.count(), 0));
    await page.getByLabel('Step whose measurements').selectOption('-');
    await soon(async () => assert.equal(await colour.locator('option[value=time]').count(), 0));
  },

  async 'two runs are compared: what only one of them has, and what differs'(keep) {
    const page = keep(await openGraph(await made()));
    await page.getByRole('button', { name: /^Compare/ }).click();
    await page.getByRole('option', { name: 'vit-distilled' }).click();
    await soon(async () =>
      assert.match(await page.locator('section[aria-label=Legend]').innerText(), /only in vit-distilled/),
    );
    await soon(async () => assert.match(await row(page, 'vit/distill').innerText(), /only in vit-distilled/));
    await soon(async () => assert.match(await row(page, 'vit/head').innerText(), /changed/));
    await toggle(page, 'loss');
    const shown = (await page.locator('button[title="Run whose graph is shown"] .run').innerText()).trim();
    await soon(async () => assert.ok((await row(page, 'loss/mean').innerText()).includes(`only in ${shown}`)));
    for (const [name, said] of [
      ['vit/head', 'Differs in vit-distilled'],
      ['vit/distill', 'only in vit-distilled'],
      ['loss/mean', `only in ${shown}`],
      ['loss/entropy', 'The same in vit-distilled'],
    ]) {
      await row(page, name).click();
      await soon(async () => assert.ok((await card(page).innerText()).includes(said), `${name}: ${said}`));
    }
    await soon(async () => assert.match(await address(page), /graphs\.other=vit-distilled/));
  },

  async 'layers of two Keras models are matched though Keras numbered them differently'(keep) {
    const server = await serve('fresh', (logdir) => {
      for (const [run, first, units] of [
        ['one', 0, 10],
        ['two', 2, 12],
      ])
        new RunWriter(logdir, run).graphBlob('keras', 'graph_keras_model', numberedKeras(first, units)).flush();
    });
    const page = keep(
      await openGraph(server, '#graphs&graphs.run=one&graphs.tag=keras&graphs.other=two&graphs.open=sequential'),
    );
    await soon(async () => assert.deepEqual(await labels(page), ['sequential', 'input_layer', 'dense', 'dense_1']));
    // the first layer agrees; the second has more units
    await soon(async () => assert.match(await row(page, 'sequential/dense_1').innerText(), /changed/));
    assert.doesNotMatch(await row(page, 'sequential/dense').innerText(), /only in|changed/);
    await soon(async () => assert.match(await page.locator('p.notes').innerText(), /3 layers matched/));
    await row(page, 'sequential/dense').click();
    await soon(async () => assert.match(await card(page).innerText(), /Name in two: sequential_2\/dense_2/));
  },

  async 'series are grouped and ungrouped, nodes moved to the side and back'(keep) {
    const page = keep(
      await openGraph(await made(), '#graphs&graphs.open=vit,vit%2Fblocks&graphs.at=vit%2Fblocks%2Fblock%5B0-11%5D'),
    );
    await card(page).getByRole('button', { name: 'Ungroup the series' }).click();
    await soon(async () => assert.ok((await labels(page)).includes('block_3')));
    await row(page, 'vit/blocks/block_3').click();
    await card(page).getByRole('button', { name: 'Group as a series' }).click();
    await soon(async () => assert.ok((await labels(page)).includes('block[0-11]')));
    await row(page, 'vit/head').click();
    await card(page).getByRole('button', { name: 'Remove from main graph' }).click();
    await soon(async () => assert.match(await page.locator('section.aside').innerText(), /head\s+1 use$/));
    await card(page).getByRole('button', { name: 'Add to main graph' }).click();
    await soon(async () => assert.equal(await page.locator('section.aside', { hasText: 'head' }).count(), 0));
  },

  async 'a picture and a drawing are exported'(keep) {
    const page = keep(
      await openGraph(await made(), '#graphs&v=1', {
        viewport: { width: 2560, height: 900 },
      }),
    );
    for (const [item, begin] of [
      ['Drawing (SVG)', '<svg'],
      ['Picture (PNG)', '\x89PNG'],
    ]) {
      await page.getByRole('button', { name: /^Export/ }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: item }).click(),
      ]);
      const bytes = readFileSync(await download.path(), 'latin1');
      assert.ok(bytes.startsWith(begin));
      // names, and of what repeats its count beside the time of one
      if (begin === '<svg') for (const part of [/patch_embed/, />12 \S+ [\d.]+ /]) assert.match(bytes, part);
    }
  },

  async 'a file that is chosen or dropped is drawn; one that is no graph is refused with a reason'(keep) {
    const page = keep(await openGraph(await made(), '#graphs&v=1', { allowErrors: true }));
    const input = page.locator('input[type=file]');
    await input.setInputFiles({
      name: 'tiny.pbtxt',
      mimeType: 'text/plain',
      buffer: Buffer.from(
        "node { name: 'in' op: 'Placeholder' }\nnode { name: 'net/out' op: 'Relu' input: 'in' }\nnode { name: 'b",
      ),
    });
    await soon(async () => assert.match(await page.locator('.chip.file').innerText(), /tiny\.pbtxt/));
    await soon(async () => assert.ok((await labels(page)).includes('in')));
    await soon(async () => assert.match(await page.locator('p.notes').innerText(), /Only a part could be read/));
    await input.setInputFiles({
      name: 'letter.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('dear reader'),
    });
    await soon(async () => assert.match(await page.locator('.message').innerText(), /not a graph/));
    await page.getByRole('button', { name: 'Back to the graphs of the runs' }).click();
    await soon(async () => assert.ok((await labels(page)).includes('vit')));
  },

  async 'a file is dropped on the stage, and on the page of a log directory without graphs'(keep) {
    const drop = (page, target) =>
      page.locator(target).evaluate((element) => {
        const data = new DataTransfer();
        data.items.add(
          new File(
            ["node { name: 'in' op: 'Placeholder' } node { name: 'net/out' op: 'Relu' input: 'in' }"],
            'tiny.pbtxt',
          ),
        );
        const fire = (type) =>
          element.dispatchEvent(
            new DragEvent(type, {
              dataTransfer: data,
              bubbles: true,
              cancelable: true,
            }),
          );
        fire('dragover');
        fire('drop');
      });
    const page = keep(await openGraph(await made()));
    await drop(page, '.stage');
    await soon(async () => assert.ok((await labels(page)).includes('in')));
    await soon(async () => assert.match(await address(page), /graphs\.file=/));
    const empty = await serve('fresh', (logdir) => {
      new RunWriter(logdir, 'r').scalars(1, { loss: 0.5 }).flush();
    });
    const other = keep(await open(empty, '#graphs'));
    await other.waitForSelector('.around');
    await soon(async () => assert.match(await other.locator('.around').innerText(), /Or drop a file/));
    await drop(other, '.around');
    await soon(async () => assert.ok((await labels(other)).includes('in')));
    await other.getByRole('button', { name: 'Back to the graphs of the runs' }).click();
    await soon(async () => assert.equal(await other.locator('.around').count(), 1));
  },

  async 'files that are cut, of another kind or without sense are dropped: drawn as far as they go, or refused'(keep) {
    const page = keep(await openGraph(await made(), '#graphs&v=1', { allowErrors: true }));
    const input = page.locator('input[type=file]');
    const give = (name, buffer) =>
      input.setInputFiles({
        name,
        mimeType: 'application/octet-stream',
        buffer,
      });
    const { graph } = transformer();
    await give('cut.pb', graph.subarray(0, Math.floor(graph.length / 2)));
    await soon(async () => assert.match(await page.locator('.chip.file').innerText(), /cut\.pb/));
    await page.getByRole('button', { name: /odd thing/ }).click();
    const odds = page.getByRole('dialog', {
      name: 'What is odd about this graph',
    });
    await soon(async () => assert.match(await odds.innerText(), /The graph is cut/));
    await page.keyboard.press('Escape');
    await give('recursion.pb', recursion());
    await soon(async () => assert.ok((await labels(page)).includes('call')));
    await page.getByRole('button', { name: /odd thing/ }).click();
    await soon(async () => assert.match(await odds.innerText(), /call themselves, opened once · 1[\s\S]*call\/again/));
    await page.keyboard.press('Escape');
    for (const [name, buffer, why] of [
      ['picture.png', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), /not a graph/],
      ['script.pt', Buffer.from('PK\x03\x04\0\0archive/code/__torch__.py', 'latin1'), /TorchScript/],
      ['nothing', Buffer.alloc(0), /empty/],
    ]) {
      await give(name, buffer);
      await soon(async () => assert.match(await page.locator('.message').innerText(), why));
      await soon(async () => assert.ok((await labels(page)).includes('call'))); // what was shown stays
    }
  },

  async 'why a file is refused is told in Chinese too'(keep) {
    const page = keep(
      await openGraph(await made(), '#graphs&v=1', {
        allowErrors: true,
        locale: 'zh-CN',
      }),
    );
    // the last two are so large that a background job reads them
    for (const [name, buffer, why] of [
      ['picture.png', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), /picture\.png 不是计算图/],
      ['script.pt', Buffer.from('PK\x03\x04\0\0archive/code/__torch__.py', 'latin1'), /是 TorchScript 文件/],
      [
        'letter.txt',
        Buffer.from('dear reader'),
        /但不是 TensorFlow 输出的计算图：第 1 行第 \d+ 列：没有这个字段：dear/,
      ],
      ['model.json', Buffer.from('{"a": '), /不是 Keras 模型/],
      ['nothing', Buffer.alloc(0), /nothing 是空文件/],
      ['huge.pbtxt', Buffer.from(`#${' '.repeat(9 << 20)}\nnodde {}`), /第 2 行第 1 列：没有这个字段：nodde/],
      ['huge.pt', Buffer.concat([Buffer.from('PK\x03\x04\0\0', 'latin1'), Buffer.alloc(9 << 20)]), /torch\.save/],
    ]) {
      await page.locator('input[type=file]').setInputFiles({
        name,
        mimeType: 'application/octet-stream',
        buffer,
      });
      await soon(async () => assert.match(await page.locator('.message').innerText(), why));
    }
    await page.locator('input[type=file]').setInputFiles({
      name: 'part.pbtxt',
      mimeType: 'text/plain',
      buffer: Buffer.from("node { name: 'in' op: 'Placeholder' }\nnode { name: 7 }"),
    });
    await soon(async () => assert.match(await page.locator('.message').innerText(), /part\.pbtxt（GraphDef 文本）/));
    const why = /此后的文本无法解析：第 2 行第 14 列：此处应为带引号的字符串，而不是 7/;
    await soon(async () => assert.match(await page.locator('p.notes').innerText(), why));
  },

  async 'the context menu of a node opens it, traces it and copies its name; that of the ground closes all'(keep) {
    const page = keep(
      await openGraph(await made(), '#graphs&v=1', {
        permissions: ['clipboard-read', 'clipboard-write'],
      }),
    );
    await row(page, 'vit/head').click();
    await page.locator(CANVAS).focus();
    await page.keyboard.press('Shift+F10');
    const item = (name) => page.getByRole('menuitem', { name }).or(page.getByRole('menuitemcheckbox', { name }));
    await item(/^Open/).click();
    await isOpen(page, 'vit/head');
    await page.locator(CANVAS).focus();
    await page.keyboard.press('Shift+F10');
    await item(/Trace inputs/).click();
    await soon(async () => assert.match(await card(page).innerText(), /\d+ operations feed it/));
    await page.locator(CANVAS).focus();
    await page.keyboard.press('Shift+F10');
    await item('Copy name').click();
    await soon(async () => assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'vit/head'));
    await page.locator(CANVAS).focus();
    await page.keyboard.press('Shift+F10');
    await item('Remove from main graph').click();
    await soon(async () => assert.match(await page.locator('section.aside').innerText(), /head/));
    await page.locator(CANVAS).click({ button: 'right', position: { x: 30, y: 400 } });
    await item('Close all boxes').click();
    await soon(async () => assert.deepEqual(await labels(page), ['image', 'vit', 'loss', 'global_step']));
  },

  async 'measurements count by device'(keep) {
    const page = keep(await openGraph(await made(), '#graphs&graphs.colour=time'));
    const legend = page.locator('section[aria-label=Legend]');
    await soon(async () => assert.equal(await legend.getByRole('checkbox').count(), 2));
    const time = async () => row(page, 'vit/blocks').innerText();
    const before = await time();
    await legend.getByRole('checkbox', { name: 'GPU:0' }).uncheck();
    await soon(async () => assert.notEqual(await time(), before));
    await soon(async () => assert.match(await address(page), /graphs\.skip=/));
    await legend.getByRole('checkbox', { name: 'GPU:0' }).check();
    await soon(async () => assert.equal(await time(), before));
  },

  async 'a function call is drawn with its body, which opens like a scope'(keep) {
    const server = await made((logdir) => new RunWriter(logdir, 'calls').graph(calls()).flush());
    const page = keep(await openGraph(server, '#graphs&graphs.open=,'));
    await soon(async () => assert.ok((await labels(page)).includes('call')));
    await toggle(page, 'call');
    await soon(async () => assert.ok((await labels(page)).includes('square')));
    await row(page, 'call').click();
    await soon(async () => assert.match(await card(page).innerText(), /Function\s+used here only\s+square_fn/));
  },

  async 'odd graphs are drawn as far as they go, and what is odd is listed'(keep) {
    const server = await made((logdir) => {
      new RunWriter(logdir, 'odd')
        .graph(
          graphDef([
            { name: 'a', op: 'Add', inputs: ['b', 'nowhere'] },
            { name: 'b', op: 'Mul', inputs: ['a'] },
            { name: 'b', op: 'Sub' },
            {
              name: '<img src=x onerror=alert(1)>/"',
              op: '</script>',
            },
          ]),
        )
        .flush();
    });
    const page = keep(await openGraph(server));
    await page.getByRole('button', { name: '3 odd things' }).click();
    const odds = page.getByRole('dialog', {
      name: 'What is odd about this graph',
    });
    for (const part of [
      /Names that several nodes have · 1/,
      /Inputs that don’t exist · 1/,
      /close a cycle · 1/,
      /nowhere/,
    ])
      await soon(async () => assert.match(await odds.innerText(), part));
    assert.deepEqual(page.problems, []);
  },

  async 'a scope with fifty thousand children is folded into parts, and the page stays quick'(keep) {
    const server = await made((logdir) => new RunWriter(logdir, 'large').graph(wide(50000)).flush());
    const page = keep(await openGraph(server));
    await soon(async () => assert.match(await page.locator('p.notes').innerText(), /50.000 operations/));
    await toggle(page, 'net');
    const part = 'net/op500x … op999x';
    await soon(async () => assert.match(await row(page, part).innerText(), /×500/));
    await toggle(page, part);
    await isOpen(page, part);
    await row(page, 'net/op501x').click();
    await soon(async () => assert.equal(await card(page).locator('code.whole').innerText(), 'net/op501x'));
    await page.locator(CANVAS).focus();
    for (const key of ['0', '+', '+', '-', 'ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    await soon(async () => assert.equal(await card(page).count(), 1));
    await shot(page, 'graphs-large');
  },

  async 'a graph of a million nodes is read behind a progress bar and shown folded'(keep) {
    const server = await made((logdir) => new RunWriter(logdir, 'huge').graph(long(1000)).flush());
    const page = keep(await open(server, '#scalars'));
    // whether the bar was there while it was read
    await page.evaluate(() => {
      globalThis.sawBar = false;
      new MutationObserver(() => {
        if (document.querySelector('.stage progress')) globalThis.sawBar = true;
      }).observe(document, { subtree: true, childList: true });
    });
    await page.evaluate(() => (location.hash = '#graphs&v=1'));
    // jobs have a low priority: on a busy machine the bar goes on for long
    await page.locator('p.notes', { hasText: /1.000.000 operations/ }).waitFor({ timeout: 240_000 });
    await soon(async () => assert.deepEqual(await labels(page), ['net', 'block[0-999]']));
    assert.equal(await page.evaluate(() => globalThis.sawBar), true);
    await shot(page, 'graphs-million');
  },

  async 'the run with the largest graph is shown first, and stays when another comes'(keep) {
    const server = await made((logdir) => {
      new RunWriter(logdir, 'a-try').graph(flat(3)).flush();
      new RunWriter(logdir, 'b-model', 1_763_000_000).graph(transformer().graph).flush();
    });
    const page = keep(await openGraph(server));
    const run = page.locator('button:has(b.run)').first();
    await soon(async () => assert.match(await run.innerText(), /b-model/));
    new RunWriter(server.logdir, 'c-larger').graph(flat(4000)).flush();
    await run.click();
    await page.getByRole('option', { name: 'c-larger' }).waitFor();
    await page.keyboard.press('Escape');
    await soon(async () => assert.match(await run.innerText(), /b-model/));
  },

  async 'the table of modules is a tree for the keyboard, and the view survives a reload'(keep) {
    const page = keep(await openGraph(await made()));
    const tree = page.getByRole('treegrid', {
      name: 'Modules of the graph',
    });
    await tree.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await soon(async () => assert.match(await card(page).locator('code.whole').innerText(), /\S/));
    await row(page, 'loss').click();
    await tree.focus();
    await page.keyboard.press('ArrowRight');
    await isOpen(page, 'loss');
    await page.keyboard.press('ArrowLeft');
    await soon(async () => assert.equal(await row(page, 'loss').getAttribute('aria-expanded'), 'false'));
    await page.keyboard.press('ArrowRight');
    await isOpen(page, 'loss');
    await address(page);
    await page.reload();
    await page.waitForSelector('.row[id^=module-]');
    await isOpen(page, 'loss');
    await soon(async () => assert.equal(await card(page).locator('code.whole').innerText(), 'loss'));
  },

  ...Object.fromEntries(
    ['light', 'dark'].flatMap((colorScheme) =>
      ['en-GB', 'zh-CN'].map((locale) => [
        `axe finds nothing with ${colorScheme} colours in ${locale}`,
        async (keep) => {
          const at = encodeURIComponent('vit/blocks/block_7/attn/softmax');
          const page = keep(
            await openGraph(await made(), `#graphs&graphs.at=${at}&graphs.colour=time&graphs.find=softmax`, {
              colorScheme,
              locale,
            }),
          );
          await soon(async () => assert.equal(await card(page).locator('h2').innerText(), 'softmax'));
          await soon(async () => assert.ok((await card(page).locator('section').count()) > 3));
          await shot(page, `graphs-${colorScheme}-${locale}`);
          await axe(page, `${colorScheme} ${locale}`);
        },
      ]),
    ),
  ),

  async 'on a phone the stage has the room, and cards and table lie over it'(keep) {
    const page = keep(
      await open(await made(), '#graphs&v=1', {
        viewport: { width: 390, height: 780 },
        hasTouch: true,
        isMobile: true,
      }),
    );
    await page.waitForSelector(CANVAS);
    await soon(async () => assert.match(await page.locator('p.notes').innerText(), /operations/));
    // the shell has the button for the runs; the toolbar has one for the modules alone
    assert.equal(await page.getByRole('radio', { name: /^Runs/ }).count(), 0);
    const modules = page.getByRole('button', {
      name: 'Modules',
      exact: true,
    });
    await modules.click();
    await soon(async () => assert.ok((await labels(page)).includes('vit')));
    await modules.click();
    await soon(async () => assert.deepEqual(await labels(page), []));
    await shot(page, 'graphs-phone');
    await axe(page, 'phone');
  },
};
