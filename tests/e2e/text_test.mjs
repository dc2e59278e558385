// Texts: Markdown, steps, linked time, live, both languages and themes, and everything hostile that a log may hold.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { RunWriter } from './logs.mjs';
import { address, axe, diskIsGone, drawn, open, openCharts, serve, shot, soon, until } from './harness.mjs';
import { cardOf, servedLog } from './media.mjs';

const REPORT = (step) => `# Evaluation at step ${step}

Perplexity is still **falling**; it fails on two of five \`lighthouse\` prompts.

| prompt set | ppl |
|---|---:|
| stories | ${(6 + 1000 / (step + 1)).toFixed(2)} |

\`\`\`
def repetition(tokens): return 1
\`\`\`
`;
/** Two runs with texts of several steps, beside scalars. */
function write(logdir) {
  const runs = {};
  for (const [name, steps] of [
    ['lora-r16', [0, 1000, 2000, 3000]],
    ['lora-r64', [0, 1500, 3000]],
  ]) {
    const run = new RunWriter(logdir, name, 1_763_000_000);
    for (const step of steps)
      run
        .texts(step, {
          'eval/report': REPORT(step),
          'samples/keeper': `The keeper of step ${step} wrote *down* the height of the sea.`,
        })
        .scalars(step, { loss: 1 / (step + 1) });
    runs[name] = run.flush();
  }
  return runs;
}
const made = (fill = write) => servedLog(fill);
const READY = '.card .markdown';
async function openTexts(server, hash = '#text&v=1', options = {}) {
  const page = await open(server, hash, options);
  await page.waitForSelector(READY);
  await drawn(page);
  return page;
}
const card = (page, run, tag) => cardOf(page, 'text', run, tag);
const says = (page, run, tag, pattern) =>
  soon(async () => assert.match(await card(page, run, tag).locator('.body').innerText(), pattern));

export default {
  async 'a card for every run and tag, the newest text first, as Markdown'(keep) {
    const { server } = await made();
    const page = keep(await openTexts(server));
    await soon(async () => assert.equal(await page.locator('.slot .card').count(), 4));
    await says(page, 'lora-r16', 'eval/report', /Evaluation at step 3000/);
    const report = card(page, 'lora-r16', 'eval/report');
    await soon(async () => assert.equal(await report.locator('h4.h1').count(), 1));
    await soon(async () => assert.equal(await report.locator('td').count(), 3));
    await soon(async () => assert.equal(await report.locator('pre code').count(), 1));
    await soon(async () => assert.match(await report.locator('footer').innerText(), /4 of 4 texts/));
    // the tab tells how many tags there are
    await soon(async () => assert.match(await page.locator('nav .tab[aria-current]').innerText(), /^Text\s*2$/));
    await page.getByRole('button', { name: 'Markdown' }).click();
    await says(page, 'lora-r16', 'eval/report', /# Evaluation/);
    await soon(async () => assert.match(await address(page), /text\.markdown=off/));
    // it is remembered by the browser: who opens the page without an address finds it as it was left
    await page.goto('about:blank');
    await page.goto(`${server.url}#text`);
    await says(page, 'lora-r16', 'eval/report', /# Evaluation/);
    await page.keyboard.press('m');
    await says(page, 'lora-r16', 'eval/report', /^Evaluation/);
    await soon(async () => assert.doesNotMatch(await address(page), /text\.markdown/));
  },

  async 'the slider, the typed step and the arrow keys choose the step, which is in the address'(keep) {
    const { server } = await made();
    const page = keep(await openTexts(server));
    const report = card(page, 'lora-r16', 'eval/report');
    await says(page, 'lora-r16', 'eval/report', /step 3000/);
    await report.locator('input[type=range]').fill('1');
    await says(page, 'lora-r16', 'eval/report', /step 1000/);
    await soon(async () =>
      assert.match(decodeURIComponent(await address(page)), /at=1000\|!text!lora-r16!!eval\/report/),
    );
    // the other cards stay where they are
    await says(page, 'lora-r16', 'samples/keeper', /step 3000/);
    await report.locator('.step').fill('2100');
    await report.locator('.step').press('Enter');
    await says(page, 'lora-r16', 'eval/report', /step 2000/);
    await soon(async () => assert.match(await report.locator('footer').innerText(), /nearest step/));
    await soon(async () => assert.match(await address(page), /at=2100/));
    await report.locator('[role=group]').focus();
    await page.keyboard.press('ArrowLeft');
    await says(page, 'lora-r16', 'eval/report', /step 1000/);
    const again = keep(await openTexts(server, await address(page)));
    await says(again, 'lora-r16', 'eval/report', /step 1000/);
    await page.keyboard.press('Control+z');
    await says(page, 'lora-r16', 'eval/report', /step 2000/);
  },

  async 'the texts of all steps are listed below each other, the newest first; older ones come as the list is scrolled'(
    keep,
  ) {
    const { server, runs } = await made((logdir) => {
      const run = new RunWriter(logdir, 'run', 1_763_000_000);
      for (let step = 0; step < 45; step++) run.texts(step, { story: `Night **${step}** at sea.` });
      return { run: run.flush() };
    });
    const page = keep(await openTexts(server));
    const one = card(page, 'run', 'story');
    await one.getByRole('radio', { name: 'List' }).click();
    const listed = async () => (await one.locator('.body h4 button').allInnerTexts()).map((t) => Number(t.slice(5)));
    const down = (from, n) => Array.from({ length: n }, (_, i) => from - i);
    await soon(async () => assert.deepEqual((await listed()).slice(0, 20), down(44, 20)));
    await soon(async () =>
      assert.match(await one.locator('.body .markdown').first().innerText(), /^Night 44 at sea\.$/),
    );
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /text\.mode=list\|!text!run/));
    await soon(async () => {
      await one.locator('.scroll').evaluate((box) => (box.scrollTop = box.scrollHeight));
      assert.deepEqual(await listed(), down(44, 45));
    });
    // a new one is the first
    runs.run.texts(45, { story: 'Night 45 at sea.' }).flush();
    await soon(async () => assert.deepEqual(await listed(), down(45, 46)));
    // from the step that the slider is at
    await one.locator('input.step').fill('30');
    await one.locator('input.step').press('Enter');
    await soon(async () => assert.deepEqual((await listed()).slice(0, 3), [30, 29, 28]));
    // a click on a step shows that text alone
    await one.getByRole('button', { name: 'step 29' }).click();
    await soon(async () => assert.equal(await one.locator('.body .markdown').count(), 1));
    await says(page, 'run', 'story', /^Night 29 at sea\.$/);
  },

  async 'linked steps move all cards, and follow the selection of the time series'(keep) {
    const { server } = await made();
    const page = keep(await openTexts(server));
    await says(page, 'lora-r64', 'eval/report', /step 3000/);
    await page.getByRole('button', { name: 'Link steps' }).click();
    await card(page, 'lora-r16', 'eval/report').locator('input[type=range]').fill('0');
    for (const run of ['lora-r16', 'lora-r64'])
      for (const tag of ['eval/report', 'samples/keeper']) await says(page, run, tag, /step 0/);
    const linked = keep(await openTexts(server, '#text&link=on&select=step&at=1600|'));
    await says(linked, 'lora-r16', 'eval/report', /step 2000/);
    await says(linked, 'lora-r64', 'eval/report', /step 1500/);
    // the place of another axis is no step
    const wall = keep(await openTexts(server, '#text&link=on&x=wall&at=1600|'));
    await says(wall, 'lora-r16', 'eval/report', /step 3000/);
  },

  async 'filter, pins, full size, J and K, runs and the palette work as in the time series'(keep) {
    const { server } = await made();
    const page = keep(await openTexts(server));
    await page.keyboard.press('/');
    await page.keyboard.type('keeper');
    await soon(async () => assert.equal(await page.locator('.slot .card').count(), 2));
    await page.keyboard.press('Enter');
    await page.keyboard.press('j');
    await page.keyboard.press('p');
    await soon(async () =>
      assert.match(decodeURIComponent(await address(page)), /pins=!text!lora-r16!!samples\/keeper/),
    );
    await page.keyboard.press('f');
    await page.waitForSelector('dialog[open] .markdown');
    await axe(page, 'a text at full size', 'dialog');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('eval/report');
    await page.keyboard.press('Enter');
    await soon(async () =>
      assert.deepEqual(await page.locator('.slot h3').evaluateAll((all) => all.map((h) => h.textContent.trim())), [
        'eval/report',
        'eval/report',
      ]),
    );
    await page.locator('[data-run="lora-r64"] .swatch, [data-run="lora-r64"] [role=checkbox]').first().click();
    await soon(async () => assert.equal(await page.locator('.slot .card').count(), 1));
  },

  async 'a new text comes by itself; a card that was moved stays, and idle cards ask nothing'(keep) {
    const { server, runs } = await made();
    const page = keep(await openTexts(server));
    await says(page, 'lora-r16', 'eval/report', /step 3000/);
    await card(page, 'lora-r64', 'eval/report').locator('input[type=range]').fill('0');
    await says(page, 'lora-r64', 'eval/report', /step 0/);
    const asked = [];
    page.on('request', (r) => {
      if (r.url().includes('api/v1/text')) asked.push(r.url());
    });
    for (const run of Object.values(runs)) run.texts(4000, { 'eval/report': REPORT(4000) }).flush();
    await says(page, 'lora-r16', 'eval/report', /step 4000/);
    await soon(async () =>
      assert.match(await card(page, 'lora-r64', 'eval/report').locator('footer').innerText(), /1 of 4 texts/),
    );
    await says(page, 'lora-r64', 'eval/report', /step 0/);
    assert.deepEqual(
      asked.filter((url) => url.includes('keeper')),
      [],
    );
  },

  async 'nothing that a log says runs, loads or leaves the card'(keep) {
    const payloads = [
      '<script>window.hit = 1</script>',
      "<img src=x onerror='window.hit = 1'>",
      "<svg onload='window.hit = 1'></svg>",
      '[link](javascript:window.hit=1)',
      "<a href='javascript:window.hit=1'>x</a>",
      "<iframe srcdoc='<script>parent.hit = 1</script>'></iframe>",
      "<math><mtext><style><img src=x onerror='window.hit=1'></style></mtext></math>",
      "<form action='/api/v1/state'><input name=q><button>go</button></form>",
      '![x](http://example.org/pixel.png)',
      '<style>body { display: none }</style>',
      "<div style='position:fixed;inset:0'>over everything</div>",
      "<a id='app' name='tag-filter'>clobbered</a>",
    ];
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, '<img src=x onerror=alert(1)>');
      payloads.forEach((text, i) => run.texts(1, { [`hostile/${i} <b>`]: `before ${text} after` }));
      run.flush();
    });
    const page = keep(await openTexts(server, '#text&text.row=3'));
    await until('all of them', async () => (await page.locator(READY).count()) >= 6);
    for (let at = 0; at < 6; at++) {
      await page.mouse.wheel(0, 600);
      await page.keyboard.press('j');
    }
    await soon(async () => assert.equal(await page.evaluate(() => window.hit), undefined));
    const odd = await page
      .locator('.markdown')
      .evaluateAll((all) =>
        all.flatMap((box) =>
          [...box.querySelectorAll('*')]
            .filter(
              (node) =>
                /^(SCRIPT|STYLE|IFRAME|FORM|INPUT|SVG|MATH)$/i.test(node.tagName) ||
                [...node.attributes].some((a) => /^(on|style|id|name)/.test(a.name) || /javascript:/i.test(a.value)),
            )
            .map((node) => node.outerHTML),
        ),
      );
    assert.deepEqual(odd, []);
  },

  async 'bad UTF-8, an empty text, a text of ten megabytes and a hundred thousand steps are shown'(keep) {
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'odd', 1_763_000_000);
      run.texts(1, {
        'odd/broken': Buffer.from([0x61, 0xff, 0xfe, 0x62, 0xc3]),
        'odd/empty': '',
        'odd/huge': 'A long line of words. '.repeat(480_000),
        'odd/large': `${'Some words. '.repeat(100_000)}\n\nThe last of them.`,
      });
      run.flush();
      const many = new RunWriter(logdir, 'many', 1_763_000_000);
      for (let step = 0; step < 100_000; step++) many.texts(step, { 'odd/steps': `at ${step}` });
      many.flush();
    });
    const page = keep(await openTexts(server, '#text&text.row=2'));
    await says(page, 'odd', 'odd/broken', /3 bytes of this text are not valid UTF-8[^]*a.+b/);
    await says(page, 'odd', 'odd/empty', /empty/);
    await soon(
      async () =>
        assert.match(await card(page, 'odd', 'odd/huge').locator('.note').innerText(), /The first .* of .* are shown/),
      30_000,
    );
    // all of it on demand
    const large = card(page, 'odd', 'odd/large');
    await soon(async () => assert.doesNotMatch(await large.locator('.markdown').innerText(), /The last of them/));
    await large.getByRole('button', { name: 'Show all' }).click();
    await says(page, 'odd', 'odd/large', /The last of them\.$/);
    await says(page, 'many', 'odd/steps', /at 99999/);
    const slider = card(page, 'many', 'odd/steps').locator('input[type=range]');
    await soon(async () => assert.equal(await slider.getAttribute('max'), '99999'));
    await slider.fill('500');
    await says(page, 'many', 'odd/steps', /at 500$/);
  },

  async 'a failure is told on the card; without texts the page says how to log them'(keep) {
    const { server } = await made();
    const page = keep(
      await open(server, '#text&v=1', {
        allowErrors: true,
        before: diskIsGone('**/api/v1/text?*'),
      }),
    );
    await page.getByText('the disk is gone').first().waitFor();
    const empty = keep(await open(await serve('empty'), '#text'));
    await empty.getByText('writer.add_text').waitFor();
    await axe(empty, 'no texts');
  },

  async 'a text is shown as it was logged, and compared word by word with another step or run'(keep) {
    const { server } = await made();
    const page = keep(await openTexts(server));
    const report = card(page, 'lora-r16', 'eval/report');
    await report.getByRole('radio', { name: 'Raw' }).click();
    await soon(async () => assert.match(await report.locator('pre.raw').innerText(), /^# Evaluation at step 3000/));
    await soon(async () =>
      assert.match(decodeURIComponent(await address(page)), /text\.mode=raw\|!text!lora-r16!!eval\/report/),
    );
    await report.getByRole('radio', { name: 'Difference' }).click();
    // the step before, at first
    await soon(async () => assert.deepEqual(await report.locator('.words del').allInnerTexts(), ['2000', '50']));
    await soon(async () => assert.deepEqual(await report.locator('.words ins').allInnerTexts(), ['3000', '33']));
    await soon(async () => assert.match(await report.locator('.sum').innerText(), /\+2 −2 9\d.% the same/));
    await report.locator('.head input[type=range]').fill('0');
    await soon(async () => assert.deepEqual((await report.locator('.words del').allInnerTexts()).at(0), '0'));
    await report.getByRole('combobox', { name: 'Run to compare with' }).selectOption('lora-r64');
    await soon(async () => assert.match(await report.locator('.sum').innerText(), /no difference/));
    // how differences are laid out is chosen where there is one
    await soon(async () => assert.equal(await page.getByRole('radio', { name: 'Side by side' }).count(), 1));
    await page.getByRole('radio', { name: 'Side by side' }).click();
    await soon(async () => assert.equal(await report.locator('.sides .words').count(), 2));
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /text\.with=!text!lora-r16/));
    const again = keep(await open(server, await address(page)));
    await soon(async () =>
      assert.match(await card(again, 'lora-r16', 'eval/report').locator('.sum').innerText(), /no difference/),
    );
    await axe(again, 'differences of texts');
    await shot(again, 'text-difference');
  },

  async 'a difference that cannot be made says why: no other text, texts of megabytes, a failure that is tried again'(
    keep,
  ) {
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'one', 1_763_000_000).texts(1, {
        single: 'The only text.',
      });
      for (const step of [1, 2])
        run.texts(step, {
          long: `at ${step} ${'Some words. '.repeat(100_000)}`,
        });
      run.flush();
    });
    let isBroken = true;
    const page = keep(
      await open(server, '#text&text.row=2&text.mode=diff|!text!one!!single,diff|!text!one!!long', {
        allowErrors: true,
        before: diskIsGone(/api\/v1\/text\?.*tag=long.*from=1/, () => isBroken, 600),
      }),
    );
    await says(page, 'one', 'single', /the same text: choose another step or run/);
    await says(page, 'one', 'long', /not up to date/);
    isBroken = false;
    await card(page, 'one', 'long').getByRole('button', { name: 'Try now' }).click();
    await says(page, 'one', 'long', /Only the first .* of each text are compared/);
    await soon(async () =>
      assert.deepEqual(await card(page, 'one', 'long').locator('.words ins').allInnerTexts(), ['2']),
    );
  },

  async 'the slider of a difference that fails says so and is tried again; its step then stays'(keep) {
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'run', 1_763_000_000);
      for (const step of [1, 2, 3]) run.texts(step, { note: `at ${step}` });
      run.flush();
    });
    let isBroken = true;
    const page = keep(
      await open(server, '#text&text.mode=diff|!text!run!!note', {
        allowErrors: true,
        before: diskIsGone(/api\/v1\/text\?.*from=2/, () => isBroken, 600),
      }),
    );
    const note = card(page, 'run', 'note');
    await soon(async () => assert.deepEqual(await note.locator('.words del').allInnerTexts(), ['2']));
    await note.locator('.head input[type=range]').fill('0');
    await says(page, 'run', 'note', /not up to date/);
    isBroken = false;
    await note.getByRole('button', { name: 'Try now' }).click();
    await soon(async () => assert.deepEqual(await note.locator('.words del').allInnerTexts(), ['1']));
    await soon(async () => assert.match(decodeURIComponent(await address(page)), /text\.with=[^&]*\b1\b/));
  },

  async 'a text that torch logs is as wide as its card, whatever its longest line of code'(keep) {
    const { server } = await made((logdir) => {
      const text = `${'Many words that need several lines of a card. '.repeat(8)}\n\n\`\`\`\n${'x = 1; '.repeat(60)}\n\`\`\`\n`;
      new RunWriter(logdir, 'torch', 1_763_000_000)
        .texts(1, { report: text })
        .strings(1, 'row', [2], ['a', 'b'])
        .flush();
    });
    const page = keep(await openTexts(server, '#text&text.row=2'));
    const report = card(page, 'torch', 'report');
    await soon(async () => {
      const [box, words, code] = await Promise.all(
        ['.markdown', 'p', 'pre'].map((name) => report.locator(`.body ${name}`).first().boundingBox()),
      );
      assert.equal(words.width, box.width);
      assert.equal(code.width, box.width); // the code is scrolled in its box
    });
    // a list of two texts stays a table
    await soon(async () =>
      assert.equal(
        await card(page, 'torch', 'row')
          .locator('tr')
          .first()
          .evaluate((row) => getComputedStyle(row).display),
        'table-row',
      ),
    );
  },

  async 'a search goes through all texts of all runs; a result opens its card at its step, with the words marked'(
    keep,
  ) {
    const { server } = await made((logdir) => {
      const runs = write(logdir);
      runs['lora-r64'].texts(2000, { 'samples/harbour': 'The beam of the Lighthouse crossed the harbour.' }).flush();
      return runs;
    });
    const page = keep(await openTexts(server));
    await page.keyboard.press('q');
    await page.keyboard.type('lighthouse');
    await page.getByText('8 in 8 of 15 texts').waitFor();
    const results = page.getByRole('region', { name: 'Found' });
    await soon(async () => assert.equal(await results.locator('.one').count(), 8));
    await soon(async () => assert.match(await results.locator('.one mark').first().innerText(), /lighthouse/i));
    // what is cut begins with a whole word
    await soon(async () =>
      assert.match(await results.locator('.snippet').first().innerText(), /^…Perplexity is still \*\*falling/),
    );
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await soon(async () => assert.equal(await results.count(), 0));
    await page.locator('#text-find').fill('lighthouse');
    await results.locator('.one', { hasText: 'samples/harbour' }).click();
    await says(page, 'lora-r64', 'samples/harbour', /beam of the Lighthouse/);
    const marks = () => page.evaluate(() => [...(CSS.highlights.get('text-find') ?? [])].map(String));
    await soon(async () => assert.ok((await marks()).includes('Lighthouse')));
    await results
      .locator('.one', { hasText: /step 1\s000/ })
      .first()
      .click();
    await says(page, 'lora-r16', 'eval/report', /step 1000/);
    await page.locator('#text-find').blur();
    await page.keyboard.press('n');
    await soon(async () => assert.match(await results.locator('.one.on').innerText(), /step 0/));
    await page.keyboard.press('b');
    await soon(async () => assert.match(await results.locator('.one.on').innerText(), /step 1\s000/));
    await page.getByRole('button', { name: 'Match case' }).click();
    await page.getByText('7 in 7 of 15 texts').waitFor();
    await page.getByRole('button', { name: 'Regular expression' }).click();
    await page.locator('#text-find').fill('light(');
    await soon(async () => assert.match(await results.innerText(), /This is no regular expression\.\s+no pattern: /));
    await page.locator('#text-find').fill('nowhere');
    await page.getByText('“nowhere” is in none of 15 texts').waitFor();
    await page.getByRole('button', { name: 'Search without regular expression and case' }).click();
    await page.locator('#text-find').fill('lighthouse');
    await soon(async () => assert.match(await address(page), /text\.find=lighthouse/));
    // a run that is not shown, and a tag that is filtered away, are shown when their result is opened
    await page.locator('[data-run="lora-r64"] .swatch, [data-run="lora-r64"] [role=checkbox]').first().click();
    await soon(async () => assert.equal(await card(page, 'lora-r64', 'samples/harbour').count(), 0));
    await results.locator('.one', { hasText: 'samples/harbour' }).click();
    await says(page, 'lora-r64', 'samples/harbour', /beam of the Lighthouse/);
    await axe(page, 'search in texts');
    await shot(page, 'text-search');
  },

  async 'formulas are drawn and code is coloured, each loaded only for a text that has some'(keep) {
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'a', 1_763_000_000);
      run.texts(1, { plain: 'It costs $5 or $6.' }).flush();
    });
    const asked = [];
    const page = keep(await openTexts(server, '#text', { before: (p) => p.on('request', (r) => asked.push(r.url())) }));
    await says(page, 'a', 'plain', /costs \$5 or \$6/);
    const chunks = () => asked.filter((url) => /\/(maths|code|KaTeX)/.test(url)).length;
    assert.equal(chunks(), 0);
    new RunWriter(server.logdir, 'b', 1_763_000_001)
      .texts(1, {
        report:
          '## Repetition\n\n$$r = 1 - \\frac{|\\{w_i \\dots w_{i+2}\\}|}{n - 2}$$\n\nwith $n_i * n_j * 2$ tokens and \\(a_1\\), not $\\unknown{x$.\n\n' +
          '```\ndef repetition(tokens, n=3):\n    grams = [tuple(tokens[i:i + n]) for i in range(len(tokens))]\n    return 1 - len(set(grams)) / max(1, len(grams))  # 0: never\n```\n\n| set | ppl |\n|---|---:|\n| stories | 5.91 |\n',
      })
      .flush();
    const b = card(page, 'b', 'report');
    await soon(async () => assert.equal(await b.locator('.katex').count(), 3));
    await soon(async () => assert.equal(await b.locator('.katex-display').count(), 1));
    await soon(async () => assert.ok((await b.locator('.hljs-keyword').count()) >= 3));
    await soon(async () => assert.match(await b.locator('.formula.wrong code').innerText(), /unknown/));
    assert.ok(chunks() > 0);
    // nothing is inlined: sizes are set through the object model, fonts come from the server
    await soon(async () =>
      assert.ok(
        await b
          .locator('.katex .katex-strut')
          .first()
          .evaluate((node) => node.style.height !== ''),
      ),
    );
    await soon(async () => assert.ok(await page.evaluate(() => document.fonts.check('16px KaTeX_Math'))));
    await axe(page, 'formulas and code', '.card');
    await shot(page, 'text-maths');
    const dark = keep(await openTexts(server, '#text', { colorScheme: 'dark', locale: 'zh-CN' }));
    await soon(async () => assert.equal(await card(dark, 'b', 'report').locator('.katex').count(), 3));
    await axe(dark, 'formulas and code in the dark', '.card');
    await shot(dark, 'text-maths-dark');
  },

  async 'names of texts with long paths differ in sight: the title takes a line of its own, what torch appends is cut first'(
    keep,
  ) {
    const tags = ['language_model', 'vision_language_model'].map(
      (x) => `validation/generated_samples/${x}/text_summary`,
    );
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'vit-b16-imagenet-lr0.003', 1_763_000_000);
      for (const step of [0, 100]) run.texts(step, Object.fromEntries(tags.map((tag) => [tag, 'a text'])));
      run.flush();
    });
    for (const [width, isChinese] of [
      [1440, false],
      [1440, true],
      [1000, true],
      [390, false],
    ]) {
      const page = keep(
        await openTexts(server, '#text', { viewport: { width, height: 900 }, ...(isChinese && { locale: 'zh-CN' }) }),
      );
      for (const tag of tags) {
        const one = card(page, 'vit-b16-imagenet-lr0.003', tag);
        await soon(async () => {
          const { name, isWhole, unit } = await one.locator('header').evaluate((header) => {
            const title = header.querySelector('h3');
            const names = [...title.querySelectorAll('.start, .end')].filter((part) => part.textContent);
            return {
              name: names.map((part) => part.textContent).join(''),
              isWhole: names.every((part) => part.scrollWidth <= part.clientWidth + 1),
              unit: header.querySelector('.unit').getBoundingClientRect().height,
            };
          });
          assert.equal(name, tag.split('/')[2]);
          assert.ok(isWhole, `${width} ${name}`);
          assert.ok(unit < 20, `${width}: the word beside the slider is in one line`);
        });
      }
    }
  },

  async 'on a phone the title has a line of its own, and every action is there'(keep) {
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'lora-r16-of-tuesday', 1_763_000_000);
      for (const step of [1, 2, 3]) run.texts(step, { 'evaluation/report': `report ${step}` });
      run.flush();
    });
    const page = keep(await openTexts(server, '#text', { viewport: { width: 390, height: 800 }, hasTouch: true }));
    const report = card(page, 'lora-r16-of-tuesday', 'evaluation/report');
    await soon(async () => {
      const isCut = await report.locator('h3').evaluate((e) => e.scrollWidth > e.clientWidth);
      assert.ok(!isCut, 'the title is cut');
    });
    const [head, title, actions] = [
      await report.locator('header').boundingBox(),
      await report.locator('.title').boundingBox(),
      await report.locator('.actions').boundingBox(),
    ];
    const where = JSON.stringify({ head, title, actions });
    assert.ok(actions.y >= title.y + title.height - 1, where);
    assert.ok(head.x + head.width - (actions.x + actions.width) < 12, `not at the right edge: ${where}`);
    await shot(page, 'text-phone-title');
    await report.getByRole('button', { name: /More/ }).click();
    await page.getByRole('menuitem', { name: 'Copy original text' }).waitFor();
    await page.keyboard.press('Escape');
    await report.getByRole('button', { name: 'Full size' }).click();
    await page.locator('dialog[open]').waitFor();
  },

  async 'the original of a text is copied as it was logged; a failure is told and copies nothing'(keep) {
    const { server } = await made();
    let isBroken = false;
    const page = keep(
      await openTexts(server, '#text', {
        permissions: ['clipboard-read', 'clipboard-write'],
        allowErrors: true,
        before: (p) =>
          p.route(/api\/v1\/blob\?/, (route) =>
            isBroken
              ? route.fulfill({
                  status: 410,
                  contentType: 'application/json',
                  body: '{"error":{"code":"gone","message":"the log has changed"}}',
                })
              : route.continue(),
          ),
      }),
    );
    const report = card(page, 'lora-r64', 'eval/report');
    const copy = async () => {
      await report.hover();
      await report.getByRole('button', { name: /More/ }).click();
      await page.getByRole('menuitem', { name: 'Copy original text' }).click();
    };
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    const told = (pattern) => soon(async () => assert.match(await page.locator('.message').innerText(), pattern));
    await copy();
    await told(/^Copied/);
    assert.equal(await copied(), REPORT(3000));
    isBroken = true;
    await copy();
    await told(/could not be copied: the log has changed/);
    assert.equal(await copied(), REPORT(3000));
  },

  async 'every plane of a tensor of texts is reached; originals and all steps are downloaded'(keep) {
    const { server } = await made((logdir) => {
      const run = new RunWriter(logdir, 'cube', 1_763_000_000);
      for (const step of [1, 2])
        run
          .strings(step, 'cells', [2, 2, 2], ['a0', 'a1', 'a2', 'a3', 'b0', 'b1', 'b2', `b3 of ${step}`])
          .strings(step, 'row', [3], ['x', '**y**', 'z'])
          .strings(step, 'table', [2, 2], ['1', '2', '3', '4']);
      run.flush();
    });
    const page = keep(await openTexts(server, '#text', { permissions: ['clipboard-read', 'clipboard-write'] }));
    const cube = card(page, 'cube', 'cells');
    // a list is a table of one column
    const cells = (tag) =>
      card(page, 'cube', tag)
        .locator('.markdown tr')
        .evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText.trim()).join(' ')));
    await soon(async () => assert.deepEqual(await cells('row'), ['x', 'y', 'z']));
    await soon(async () => assert.deepEqual(await cells('table'), ['1 2', '3 4']));
    await soon(async () => assert.equal(await card(page, 'cube', 'row').locator('td strong').count(), 1));
    await soon(async () => assert.match(await cube.locator('.planes').innerText(), /2 × 2 × 2/));
    await says(page, 'cube', 'cells', /a3/);
    await cube.locator('.planes input').fill('1');
    await cube.locator('.planes input').press('Enter');
    await says(page, 'cube', 'cells', /b3 of 2/);
    const menu = async (item) => {
      await cube.hover();
      await cube.getByRole('button', { name: /More/ }).click();
      await page.getByRole('menuitem', { name: item }).click();
    };
    const saved = async (item) => {
      const [file] = await Promise.all([page.waitForEvent('download'), menu(item)]);
      return [file.suggestedFilename(), readFileSync(await file.path(), 'utf8')];
    };
    assert.deepEqual(await saved('Download original text'), ['cube_cells_2.md', 'a0']);
    const [name, all] = await saved('Download all steps (JSON)');
    assert.equal(name, 'cube_cells.json');
    assert.deepEqual(
      JSON.parse(all).map(({ step, strings }) => [step, strings.length]),
      [
        [1, 8],
        [2, 8],
      ],
    );
    const [, csv] = await saved('Download all steps (CSV)');
    assert.match(csv, /^step,wall_time,index,text\r\n1,/);
    await menu('Copy original text');
    await soon(async () => assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'a0'));
  },

  async 'its script and texts come when it is opened, not with the first page'(keep) {
    const { server } = await made();
    const asked = [];
    const page = keep(
      await openCharts(server, '#timeseries&v=1', {
        before: (p) => p.on('request', (r) => asked.push(r.url())),
      }),
    );
    const scripts = () => asked.filter((url) => url.endsWith('.js')).length;
    const before = scripts();
    await page.keyboard.press('2');
    await page.waitForSelector(READY);
    assert.ok(scripts() > before);
  },
};
