// Pictures, clips, texts and histograms in the browser as logs really have them: freshly written by TensorFlow and torch,
// with scripts in every field, and with files that are damaged in every way that the fuzzers know.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rows, write as writeHistograms } from './histograms.mjs';
import { address, axe, open, ROOT, shot, soon, until } from './harness.mjs';
import { RunWriter, tone, wav } from './logs.mjs';
import { asRun, assertHarmless, cardOf, middle, SCRIPTS, servedLog, START, wander } from './media.mjs';
import { plain, scene } from './pictures.mjs';

/** Where the peers' Python is, as tools/setup installs it. */
const python = () =>
  join(execFileSync(join(ROOT, 'tools/setup'), ['python-path'], { encoding: 'utf8' }).trim(), 'bin/python');

/** Inputs of a fuzz target, which are kept because each is odd in a way of its own. */
const corpus = (name, skip) => {
  const folder = join(ROOT, 'fuzz/corpus', name);
  return readdirSync(folder)
    .sort()
    .map((file) => readFileSync(join(folder, file)).subarray(skip));
};

/** The histograms of their own tests, and beside them pictures, clips and texts of some steps. */
function writeAll(logdir) {
  const runs = Object.values(writeHistograms(logdir, 12));
  runs.forEach((run, r) => {
    for (const step of [0, 1000, 2000])
      run
        .images(step, {
          'val/samples': [0, 1, 2].map((k) => plain([90 * r, step / 10, 80 * k], 64, 48)),
          'val/scene': scene(96, 64, 0.4 + step / 4000, r),
        })
        .clips(
          step,
          { 'val/speech': [wav(0.8, tone(200 + step / 10))] },
          { description: 'The *keeper* counted ships.' },
        )
        .texts(step, {
          'eval/report': `# Step ${step}\n\nIt *falls*, see \`loss\`.\n\n| set | ppl |\n|---|---:|\n| stories | ${step} |\n`,
        });
    run.flush();
  });
  return runs;
}
/** What is looked at in each tab: what is there when it is whole, and its addresses, one for each of the four looks. */
const LOOKS = [
  ['light', 'en'],
  ['dark', 'en'],
  ['dark', 'zh-Hans'],
  ['light', 'zh-Hans'],
];
const GRID = 'img.mode=grid&img.a=2000,!images!vit-b16!0!val/samples&img.b=1000,!images!vit-b16!0!val/samples';
const PINNED = 'pins=!images!vit-b16!!val/scene';
const LIST = 'text.mode=list%7C!text!vit-b16!!eval/report';
const TABS = {
  images: ['.stage img, .matrix .picture img', 3, [PINNED, PINNED, PINNED, PINNED]],
  'images as a grid, two compared': ['.matrix .picture img', 12, [GRID, GRID, GRID, GRID]],
  audio: ['canvas[data-drawn]', 2, ['', 'audio.loop=on&audio.range=0.2-0.5', 'audio.show=wave', '']],
  text: ['.card .markdown', 2, ['', LIST, LIST, 'pins=!text!vit-b16!!eval/report']],
  histograms: ['.figure[data-drawn]', 1, ['offset', 'overlay', 'heat', 'runs'].map((mode) => `hist.mode=${mode}`)],
  distributions: ['.figure[data-drawn]', 1, ['', 'dist.layout=together', '', 'dist.layout=together']],
};

/** Looks at one tab in one page, in which address, colours and language change; the shell has tests of its own. */
async function lookAt(keep, name) {
  const { server } = await servedLog(writeAll, 'images', 2);
  const [drawn, least, hashes] = TABS[name];
  const tab = name.split(' ')[0];
  const page = keep(await open(server, `#${tab}&v=1`));
  const lang = () => page.evaluate(() => document.documentElement.lang);
  for (const [i, [colorScheme, wanted]] of LOOKS.entries()) {
    await page.evaluate((hash) => (location.hash = hash), `#${tab}&${hashes[i] || 'v=1'}`);
    await page.emulateMedia({ colorScheme });
    if ((await lang()) !== wanted) await page.locator('header .language').click();
    await soon(async () => {
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme);
      assert.equal(await lang(), wanted);
      assert.ok((await page.locator(drawn).count()) >= least);
      assert.equal(await page.locator('.skeleton').count(), 0);
    });
    await axe(page, `${name} ${colorScheme} ${wanted}`, '.dash');
  }
}

/** Walks through pages of a log that has a script wherever a log can say something: none runs, none becomes a part of the page. */
async function staysHarmless(keep, hashes) {
  const { server } = await servedLog((logdir) =>
    SCRIPTS.forEach((payload, i) => {
      const run = new RunWriter(logdir, asRun(payload, i), START + i);
      const about = { description: payload, display: payload };
      for (const step of [1, 2]) {
        run.texts(step, { [payload]: `${payload} at ${step}` }, undefined, about);
        run.images(step, { [`image ${payload}`]: [plain([9, 9, 9]), Buffer.from(payload)] }, undefined, about);
        run.histograms(step, { [`histogram ${payload}`]: rows([[0, 1]]) }, undefined, about);
      }
      run.clips(1, { [`clip ${payload}`]: [wav(0.1, tone(440)), Buffer.from(payload)] }, about);
      run.scalars(1, { [`scalar ${payload}`]: 1 }).flush();
    }),
  );
  for (const hash of hashes) {
    const page = keep(await open(server, hash, { allowErrors: true })); // bytes that are no picture do not load
    await wander(page);
    await assertHarmless(page, hash);
    assert.deepEqual(
      page.problems.filter((problem) => /dialog/.test(problem)),
      [],
    );
    await page.goto('about:blank'); // many pages at once are slow
  }
}

export default {
  ...Object.fromEntries(
    Object.keys(TABS).map((name) => [
      `axe finds nothing in ${name}, in both colours and both languages`,
      (keep) => lookAt(keep, name),
    ]),
  ),

  async 'a step that is chosen in one tab is that of all others: images, audio, text, histograms, distributions, scalars'(
    keep,
  ) {
    const { server } = await servedLog(writeAll, 'images', 2);
    const page = keep(await open(server, '#images&link=on&select=step'));
    let hash = '';
    /** To another tab, as a person goes: the rest of the address stays. */
    const tab = (name) => page.evaluate((to) => (location.hash = to), hash.replace(/^#[^&]*/, `#${name}`));
    const stepOf = async (plugin, tag) =>
      (await cardOf(page, plugin, 'vit-b16', tag).locator('input.step').inputValue()).replace(/\s/g, '');
    const at = (plugin, tag, step) => soon(async () => assert.equal(await stepOf(plugin, tag), String(step)));
    const chosen = (step) =>
      soon(async () => {
        hash = decodeURIComponent(await address(page));
        assert.match(hash, new RegExp(`at=${step}\\|`));
      });
    await at('images', 'val/samples', 2000);
    await cardOf(page, 'images', 'vit-b16', 'val/samples').locator('input[type=range]').fill('1');
    await chosen(1000);
    await tab('text');
    await at('text', 'eval/report', 1000);
    await cardOf(page, 'text', 'vit-b16', 'eval/report').locator('input[type=range]').fill('0');
    await chosen(0);
    await tab('audio');
    await at('audio', 'val/speech', 0);
    await cardOf(page, 'audio', 'vit-b16', 'val/speech').locator('input[type=range]').fill('1');
    await chosen(1000);
    // by the keyboard in a card of distributions
    await tab('distributions');
    const bands = page.locator('[data-tag="!histograms!!!attn/qkv.grad"] .figure[data-drawn]');
    await bands.waitFor();
    await bands.focus();
    await page.keyboard.press('ArrowLeft'); // where the chosen step is
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await chosen(900);
    await tab('histograms&hist.mode=runs');
    await soon(async () =>
      assert.equal(
        (await page.locator('[data-tag="!histograms!!!norm/weight"] input.step').inputValue()).replace(/\s/g, ''),
        '900',
      ),
    );
    await tab('images');
    await at('images', 'val/samples', 1000); // the nearest
    await tab('timeseries&tags=^loss');
    await soon(async () =>
      assert.match((await page.locator('[data-tag="loss"]').first().innerText()).replace(/\u2009/g, ''), /\b900\b/),
    );
  },

  async 'the corpus of scripts in every field of texts, clips and scalars: run, tag, text, description, display name, search, bytes'(
    keep,
  ) {
    const all = SCRIPTS.map((payload, i) => `diff|!text!${asRun(payload, i)}!!${payload}`);
    await staysHarmless(keep, [
      '#text&text.find=hit&text.row=2',
      `#text&text.mode=${encodeURIComponent(all.join(','))}`,
      '#text&text.markdown=off',
      '#audio',
      '#timeseries',
    ]);
  },

  async 'the corpus of scripts in every field of pictures and histograms, and in the address'(keep) {
    const said = ['img.ref', 'img.groups', 'img.zoom', 'at', 'hist.zoom', 'dist.zoom'];
    const side = (i) => encodeURIComponent(`1,!images!${asRun(SCRIPTS[i], i)}!0!image ${SCRIPTS[i]}`);
    await staysHarmless(keep, [
      `#images&${said.map((key) => `${key}=${encodeURIComponent(SCRIPTS[2])}`).join('&')}`,
      `#images&img.mode=grid&img.a=${side(0)}&img.b=${side(1)}`,
      '#images&img.mode=strip',
      '#images&img.each=on',
      '#histograms',
      '#histograms&hist.mode=runs',
      '#distributions',
    ]);
  },

  async 'damaged pictures and clips of the fuzzers: each card says something, nothing crashes'(keep) {
    const pictures = corpus('picture', 1);
    const clips = corpus('wav', 0);
    const { server } = await servedLog((logdir) => {
      const run = new RunWriter(logdir, 'run', START);
      // all in one record: tags of one record are told apart
      run.images(1, Object.fromEntries(pictures.map((bytes, i) => [`odd/${i}`, bytes])));
      run.clips(1, Object.fromEntries(clips.map((bytes, i) => [`clip/${i}`, [bytes]])));
      run.flush();
    });
    for (const [tab, total] of [
      ['images', pictures.length],
      ['audio', clips.length],
    ]) {
      const page = keep(
        await open(server, `#${tab}&v=1`, { allowErrors: true, viewport: { width: 1440, height: 3000 } }),
      );
      page.on('dialog', (dialog) => page.problems.push(`a dialog: ${dialog.message()}`));
      const seen = new Set();
      let turns = 0;
      await until('every card is settled', async () => {
        const settled = await page
          .locator('.slot .card')
          .evaluateAll((cards) =>
            cards
              .filter(
                (card) =>
                  card.querySelector('.stage img, .problem, canvas[data-drawn]') && !card.querySelector('.skeleton'),
              )
              .map((card) => card.dataset.tag),
          );
        for (const tag of settled) seen.add(tag);
        await page.mouse.move(900, 500);
        await page.mouse.wheel(0, turns++ % 16 < 8 ? 500 : -500); // down and up again
        return seen.size >= total;
      });
      await assertHarmless(page, tab);
      assert.deepEqual(
        page.problems.filter((problem) => /dialog|crash/.test(problem)),
        [],
      );
      const failed = await (await fetch(`${server.url}api/v1/status`)).status;
      assert.equal(failed, 200); // the server lives
    }
  },

  async 'pictures, clips, texts and histograms that TensorFlow and torch write now are shown, to the pixel'(keep) {
    const { server } = await servedLog((logdir) =>
      execFileSync(python(), [join(import.meta.dirname, 'peers.py'), logdir], { stdio: 'pipe' }),
    );
    const page = keep(await open(server, '#images&v=1'));
    for (const [run, tag, colour] of [
      ['tf', 'picture', [200, 40, 90]],
      ['torch', 'picture', [20, 140, 90]],
      ['tf', 'batch', [1, 0, 0]],
    ])
      await soon(async () =>
        assert.deepEqual(await middle(cardOf(page, 'images', run, tag).locator('.stage img')), colour, `${run} ${tag}`),
      );
    // the other pictures of a batch
    await cardOf(page, 'images', 'tf', 'batch').getByRole('button', { name: 'Next sample' }).click();
    await soon(async () =>
      assert.deepEqual(await middle(cardOf(page, 'images', 'tf', 'batch').locator('.stage img')), [2, 0, 0]),
    );
    // a video of torch is an animation
    await soon(async () =>
      assert.match(await cardOf(page, 'images', 'torch', 'video').locator('.stage img').getAttribute('src'), /blob\?/),
    );
    await shot(page, 'media-peers-images');
    const others = [
      ['audio', 'canvas[data-drawn]', ['tf', 'torch']],
      ['text', '.markdown', ['tf', 'torch']],
      ['histograms', '.figure[data-drawn]', ['tf', 'torch']],
    ];
    for (const [tab, drawn, runs] of others) {
      const other = keep(await open(server, `#${tab}&v=1`));
      for (const run of runs) await other.locator(`.slot [data-tag^="!${tab}!${run}!"] ${drawn}`).first().waitFor();
    }
  },
};
