// Texts: Markdown, steps, linked time, live, both languages and themes, and everything hostile that a log may hold.
import assert from 'node:assert/strict';
import { RunWriter } from './logs.mjs';
import { address, axe, loaded, open, openCharts, serve, shot, soon, until } from './harness.mjs';

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
async function made(fill = write) {
  const server = await serve('fresh');
  const runs = fill(server.logdir);
  await until('read', async () => {
    const status = await loaded(server);
    return status.plugins.text > 0 && status;
  });
  return { server, runs };
}
const READY = '.card .markdown';
async function openTexts(server, hash = '#text&v=1', options = {}) {
  const page = await open(server, hash, options);
  await page.waitForSelector(READY);
  return page;
}
const card = (page, run, tag) => page.locator(`[data-tag="!text!${run}!!${tag}"]`).first();
const says = (page, run, tag, pattern) =>
  soon(async () => assert.match(await card(page, run, tag).locator('.body').innerText(), pattern));

export default {
  async 'a card for every run and tag, the newest text first, as Markdown'(keep) {
    const { server } = await made();
    const page = keep(await openTexts(server));
    await soon(async () => assert.equal(await page.locator('.slot .card').count(), 4));
    await says(page, 'lora-r16', 'eval/report', /Evaluation at step 3000/);
    const report = card(page, 'lora-r16', 'eval/report');
    assert.equal(await report.locator('h4.h1').count(), 1);
    assert.equal(await report.locator('td').count(), 3);
    assert.equal(await report.locator('pre code').count(), 1);
    assert.match(await report.locator('footer').innerText(), /4 of 4 texts/);
    // the tab tells how many tags there are
    assert.match(await page.locator('nav .tab[aria-current]').innerText(), /^Text\s*2$/);
    await page.getByRole('button', { name: 'Markdown' }).click();
    await says(page, 'lora-r16', 'eval/report', /# Evaluation/);
    assert.match(await address(page), /text\.markdown=off/);
    await page.keyboard.press('m');
    await soon(async () => assert.doesNotMatch(await address(page), /text\.markdown/));
  },

  ...Object.fromEntries(
    ['light', 'dark'].flatMap((colorScheme) =>
      ['en-GB', 'zh-CN'].map((locale) => [
        `axe finds nothing with ${colorScheme} colours in ${locale}`,
        async (keep) => {
          const { server } = await made();
          const page = keep(await openTexts(server, '#text&pins=!text!lora-r16!!eval/report', { colorScheme, locale }));
          const name = `text-${colorScheme}-${locale.slice(0, 2)}`;
          await until(
            'all of them',
            async () => (await page.locator(READY).count()) === 5 && (await page.locator('.skeleton').count()) === 0,
          );
          await axe(page, name);
          await shot(page, name);
          if (locale === 'zh-CN') assert.equal(await page.getByText('联动步数').count(), 1);
        },
      ]),
    ),
  ),

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
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
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
    assert.equal(await page.evaluate(() => window.hit), undefined);
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
      });
      run.flush();
      const many = new RunWriter(logdir, 'many', 1_763_000_000);
      for (let step = 0; step < 100_000; step++) many.texts(step, { 'odd/steps': `at ${step}` });
      many.flush();
    });
    const page = keep(await openTexts(server, '#text&text.row=2'));
    await says(page, 'odd', 'odd/broken', /^a.+b/);
    await says(page, 'odd', 'odd/empty', /empty/);
    await soon(
      async () =>
        assert.match(await card(page, 'odd', 'odd/huge').locator('.note').innerText(), /The first .* of .* are shown/),
      30_000,
    );
    await says(page, 'many', 'odd/steps', /at 99999/);
    const slider = card(page, 'many', 'odd/steps').locator('input[type=range]');
    assert.equal(await slider.getAttribute('max'), '99999');
    await slider.fill('500');
    await says(page, 'many', 'odd/steps', /at 500$/);
  },

  async 'a failure is told on the card; without texts the page says how to log them'(keep) {
    const { server } = await made();
    const page = keep(
      await open(server, '#text&v=1', {
        allowErrors: true,
        before: (p) =>
          p.route('**/api/v1/text?*', (route) =>
            route.fulfill({
              status: 500,
              contentType: 'application/json',
              body: '{"error":{"code":"io","message":"the disk is gone"}}',
            }),
          ),
      }),
    );
    await page.getByText('the disk is gone').first().waitFor();
    const empty = keep(await open(await serve('empty'), '#text'));
    await empty.getByText('writer.add_text').waitFor();
    await axe(empty, 'no texts');
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
