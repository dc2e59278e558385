// The shell: themes, languages, keys, palette, tabs, links, states.
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { RunWriter } from './logs.mjs';
import { axe, CHART, loaded, open, openCharts, ROOT, serve, shot, soon, until } from './harness.mjs';

async function clean(keep, colorScheme, locale) {
  const page = keep(
    await openCharts('demo', '#timeseries&pins=val/loss', {
      colorScheme,
      locale,
    }),
  );
  const name = `${colorScheme}-${locale.slice(0, 2)}`;
  await until('drawn', async () => (await page.locator('.skeleton').count()) === 0);
  await axe(page, name);
  await shot(page, `page-${name}`);
  for (const [key, dialog] of [
    ['?', 'keys'],
    ['Control+k', 'palette'],
  ]) {
    await page.keyboard.press(key);
    await page.waitForSelector('dialog[open]');
    await axe(page, `${name} ${dialog}`);
    await shot(page, `${dialog}-${name}`);
    await page.keyboard.press('Escape');
  }
}

export default {
  ...Object.fromEntries(
    ['light', 'dark'].flatMap((colorScheme) =>
      ['en-GB', 'zh-CN'].map((locale) => [
        `axe finds nothing with ${colorScheme} colours in ${locale}, with dialogs open`,
        (keep) => clean(keep, colorScheme, locale),
      ]),
    ),
  ),

  async "only the reader's language is sent, and the texts are tried again until they come"(keep) {
    const sent = [];
    const note = (p) =>
      p.on('request', (r) => {
        const found = /assets\/(en|zh)-/.exec(r.url());
        if (found) sent.push(found[1]);
      });
    const page = keep(await openCharts('demo', '', { locale: 'zh-CN', before: note }));
    assert.deepEqual([...new Set(sent)], ['zh']);
    await soon(async () => assert.equal(await page.evaluate(() => document.documentElement.lang), 'zh-Hans'));
    let refused = 0;
    const again = keep(
      await open(await serve('demo'), '', {
        allowErrors: true,
        before: (p) => p.route(/assets\/en-/, (route) => (refused++ < 2 ? route.abort() : route.continue())),
      }),
    );
    await again.waitForSelector(CHART);
    assert.ok(refused > 2);
  },

  async 'axe finds nothing in full size, menus, settings and the empty page'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&full=train/loss&group=path'));
    await page.waitForSelector('dialog[open] .row .name');
    await axe(page, 'full');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.waitForSelector('dialog[open]');
    await axe(page, 'settings');
    await shot(page, 'settings');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'View ▾' }).click();
    await axe(page, 'menu');
    const empty = keep(await open(await serve('empty')));
    await empty.waitForSelector('pre');
    await soon(async () =>
      assert.match(
        await empty.locator('main').innerText(),
        /another directory.*Log directory\s+\S*empty.*Event files: 0, runs: 0.*Last update\s+.*\d\d:\d\d/s,
      ),
    );
    await axe(empty, 'empty');
    await shot(empty, 'empty');
  },

  async 'theme and language switch and stay'(keep) {
    const page = keep(await openCharts('demo'));
    await page.keyboard.press('t');
    await until('dark', () => page.evaluate(() => document.documentElement.dataset.theme === 'dark'));
    await page.getByRole('button', { name: '切换到中文' }).click();
    await page.waitForSelector('text=时间序列');
    await page.reload();
    await page.waitForSelector('text=时间序列');
    await soon(async () =>
      assert.deepEqual(
        await page.evaluate(() => [document.documentElement.dataset.theme, document.documentElement.lang]),
        ['dark', 'zh-Hans'],
      ),
    );
  },

  async 'the palette finds a tag and shows it'(keep) {
    const page = keep(await openCharts('demo'));
    await page.keyboard.press('Control+k');
    await page.keyboard.type('latency');
    await page.keyboard.press('Enter');
    await soon(async () =>
      assert.equal(await page.locator('dialog[open] .chart').getAttribute('data-tag'), 'val/latency_ms'),
    );
  },

  async 'the tag filter takes expressions, keeps the last good one, and says when nothing matches'(keep) {
    const page = keep(await openCharts('demo'));
    await page.keyboard.press('/');
    await page.keyboard.type('val/(loss|acc');
    await soon(async () => assert.equal(await page.locator('#tag-filter').getAttribute('aria-invalid'), 'true'));
    await page.keyboard.type(')');
    await until('two cards', async () => (await page.locator('.slot').count()) === 2);
    await page.locator('#tag-filter').fill('nothing like it');
    await page.getByRole('button', { name: 'Clear the filter' }).waitFor();
    await shot(page, 'filtered-to-nothing');
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await page.waitForSelector(CHART);
  },

  async 'tabs without data are under More, with the reason'(keep) {
    const page = keep(await openCharts('demo'));
    await page.getByRole('button', { name: /^More ▾/ }).click();
    for (const part of [/Images\s+no data/, /HParams\s+1 logged/])
      await soon(async () => assert.match(await page.locator('[role=menu]').innerText(), part));
    await shot(page, 'more');
  },

  async 'a tab without data opens and says what would show there, and how to log it'(keep) {
    const page = keep(await openCharts('demo'));
    for (const [tab, torch, tensorflow, keras] of [
      ['Images', 'add_image', 'tf.summary.image', 'LambdaCallback'],
      ['Histograms', 'add_histogram', 'tf.summary.histogram', 'histogram_freq=1'],
      ['Graph', 'add_graph', 'trace_export', 'write_graph'],
    ]) {
      await page.getByRole('button', { name: /^More ▾/ }).click();
      await page.getByRole('menuitem', { name: new RegExp(`^${tab}`) }).click();
      await page.getByRole('heading', { name: `${tab}: no data yet` }).waitFor();
      await soon(async () => assert.match(await page.locator('pre').innerText(), new RegExp(torch)));
      await page.getByRole('radio', { name: 'TensorFlow' }).click();
      await soon(async () => assert.match(await page.locator('pre').innerText(), new RegExp(tensorflow)));
      await page.getByRole('radio', { name: 'Keras' }).click();
      await soon(async () => assert.match(await page.locator('pre').innerText(), new RegExp(keras)));
    }
    await axe(page, 'no data');
    await shot(page, 'inactive');
    await page.keyboard.press('1');
    await page.waitForSelector(CHART);
  },

  async 'an unknown dashboard in the address is told, with those that are there'(keep) {
    const page = keep(await open(await serve('demo'), '#nonsense'));
    await page
      .getByRole('heading', {
        name: 'There is no dashboard called “nonsense”',
      })
      .waitFor();
    await axe(page, 'unknown tab');
    await shot(page, 'unknown-tab');
    await page.locator('main').getByRole('button', { name: 'Time series' }).click();
    await page.waitForSelector(CHART);
  },

  async 'a server that does not answer, refuses or is none is told apart, and tried again'(keep) {
    const server = await serve('demo');
    for (const [answer, title] of [
      [(r) => r.abort(), 'The server does not answer'],
      [
        (r) =>
          r.fulfill({
            status: 401,
            json: {
              error: {
                code: 'unauthorized',
                message: 'no token',
              },
            },
          }),
        'This page needs its token',
      ],
      [
        (r) =>
          r.fulfill({
            status: 403,
            json: {
              error: {
                code: 'forbidden',
                message: 'not from there',
              },
            },
          }),
        'Permission denied',
      ],
      [(r) => r.fulfill({ status: 404, body: 'nothing' }), 'No Seaboard server here'],
    ]) {
      const page = keep(
        await open(server, '', {
          allowErrors: true,
          before: (p) => p.route('**/api/v1/status', answer),
        }),
      );
      await page.getByRole('heading', { name: title }).waitFor();
      await soon(async () =>
        assert.match(await page.locator('header [role=status]').innerText(), /disconnected · retrying/),
      );
      if (title.includes('token')) await axe(page, title);
      await shot(page, `trouble-${title.replace(/\W+/g, '-').toLowerCase()}`);
      const again = page.getByRole('button', { name: 'Try now' });
      await again.waitFor();
      await page.unroute('**/api/v1/status');
      // the page tries by itself too: the button may be gone before the click
      await Promise.race([again.click().catch(() => {}), page.waitForSelector(CHART)]);
      await page.waitForSelector(CHART);
      await page.context().close();
    }
  },

  async 'reading says how far it is, what is found and how long it takes'(keep) {
    const server = await serve('empty');
    await loaded(server);
    let done = 0;
    const reading = (json) => ({
      ...json,
      version: 1000 + done,
      loading: {
        ...json.loading,
        isLoading: true,
        runs: 12,
        files: 40,
        bytes: 1e9,
        bytesDone: done * 1e8,
        points: 5000,
      },
    });
    const fake = async (route) => {
      done = Math.min(9, done + 1);
      await route.fulfill({
        json: reading(await (await route.fetch()).json()),
      });
    };
    const page = keep(
      await open(server, '', {
        before: (p) => Promise.all([p.route('**/api/v1/status', fake), p.route('**/api/v1/changes*', fake)]),
        allowErrors: true,
      }),
    );
    await page.getByRole('progressbar').waitFor();
    await until(
      'time left',
      async () => (
        await page.getByRole('button', { name: 'Reload everything' }).click(),
        /^reading \d0 % · [\d.]+ (ms|s|min).* left$/.test(await page.locator('header [role=status]').innerText())
      ),
    );
    await soon(async () =>
      assert.match(await page.locator('main').innerText(), /\d+ MB of 1.0 GB, 12 runs so far · .* left/),
    );
    await soon(async () =>
      assert.match(await page.locator('header [role=status]').getAttribute('title'), /12 runs · 5.000 points/),
    );
    await axe(page, 'reading');
    await shot(page, 'loading');
  },

  async 'the reload button tells when data came last, and loads'(keep) {
    const page = keep(await openCharts('demo'));
    const button = page.getByRole('button', {
      name: 'Reload everything',
    });
    await soon(async () => assert.match(await button.getAttribute('title'), /last update .*\d\d:\d\d:\d\d/));
    const asked = page.waitForRequest((r) => r.url().endsWith('api/v1/runs'));
    await button.click();
    await asked;
  },

  async 'pause holds new points back until it ends; live updates can be off from the start'(keep) {
    const server = await serve('fresh', (logdir) => {
      const run = new RunWriter(logdir, 'r');
      for (let step = 0; step < 20; step++) run.scalars(step, { loss: step });
      return run.flush();
    });
    const run = server.filled;
    const page = keep(await openCharts(server));
    await page.getByRole('button', { name: 'Pause live updates' }).click();
    await soon(async () => assert.match(await page.locator('header [role=status]').innerText(), /paused/));
    for (let step = 20; step < 40; step++) run.scalars(step, { loss: step });
    run.flush();
    await until(
      'the server has them',
      async () => (await (await fetch(`${server.url}api/v1/status`)).json()).loading.points >= 40,
    );
    await soon(async () => assert.match(await page.locator('.slot footer').innerText(), /20 of 20 points/));
    await page.getByRole('button', { name: 'Resume live updates' }).click();
    await until('they come', async () => /40 of 40 points/.test(await page.locator('.slot footer').innerText()));
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel(/Live updates/).uncheck();
    await page.reload();
    await page.waitForSelector(CHART);
    await until('paused from the start', async () =>
      /paused/.test(await page.locator('header [role=status]').innerText()),
    );
  },

  async 'the runs panel keeps its width, folds to nothing and comes back'(keep) {
    const page = keep(await openCharts('demo'));
    const width = () => page.locator('aside').evaluate((e) => Math.round(e.getBoundingClientRect().width));
    const grip = await page.getByRole('separator').boundingBox();
    const drag = async (to) => {
      const at = await page.getByRole('separator').boundingBox();
      await page.mouse.move(at.x + 3, 400);
      await page.mouse.down();
      await page.mouse.move(to, 400, { steps: 6 });
      await page.mouse.up();
    };
    await drag(grip.x + 83);
    await soon(async () => assert.ok((await width()) > 400));
    const wide = await width();
    await page.reload();
    await page.waitForSelector(CHART);
    await soon(async () => assert.equal(await width(), wide));
    await drag(20);
    await until('folded', async () => (await page.locator('aside').count()) === 0);
    await page.reload();
    await page.waitForSelector(CHART);
    await soon(async () => assert.equal(await page.locator('aside').count(), 0));
    await page.keyboard.press('[');
    await page.waitForSelector('aside');
  },

  async 'every key of the list does what it says'(keep) {
    const page = keep(await openCharts('demo'));
    const hash = () => page.evaluate(() => location.hash);
    const says = (what, pattern) => until(what, async () => pattern.test(await hash()));
    await page.keyboard.press('?');
    const list = await page.locator('dialog[open]').innerText();
    for (const key of ['?', 'Ctrl K', 'Ctrl Z', 'R', '[', 'T', '/', 'J', 'K', 'F', 'P', 'L', 'S', 'E', 'Esc', '1'])
      assert.ok(list.includes(key), key);
    await page.keyboard.press('Escape');
    await until('closed', async () => (await page.locator('dialog[open]').count()) === 0);
    await page.keyboard.press('r');
    await until('run filter', () => page.evaluate(() => document.activeElement?.id === 'run-filter'));
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await until('tag filter', () => page.evaluate(() => document.activeElement?.id === 'tag-filter'));
    await page.keyboard.press('Escape');
    const tag = () => page.evaluate(() => document.activeElement?.closest('[data-tag]')?.dataset.tag);
    await page.keyboard.press('j');
    const first = await until('a card', tag);
    await page.keyboard.press('j');
    await until('the next card', async () => (await tag()) !== first);
    await page.keyboard.press('k');
    await until('the one before', async () => (await tag()) === first);
    await page.keyboard.press('p');
    await says('pinned', /pins=/);
    await page.keyboard.press('l');
    await says('log', /logy=/);
    await page.keyboard.press('s');
    await says('unsmoothed', /smooth=0(&|$)/);
    await page.keyboard.press('f');
    await says('full size', /full=/);
    await page.waitForSelector('dialog[open] .plot');
    await page.keyboard.press('Escape');
    await until('small again', async () => !/full=/.test(await hash()));
    await page.keyboard.press('e');
    await page.waitForSelector('[role=menu]');
    await page.keyboard.press('Escape');
    await page.keyboard.press('[');
    await until('no panel', async () => (await page.locator('aside').count()) === 0);
    await page.keyboard.press('[');
    await page.keyboard.press('t');
    await until('dark', () => page.evaluate(() => document.documentElement.dataset.theme === 'dark'));
    for (let i = 0; i < 3; i++) await page.keyboard.press('Control+z'); // full size closed, opened, smoothing
    await until('smoothed again', async () => !/smooth=0(&|$)/.test(await hash()));
    await page.locator('.plot').first().focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('.tip');
    await page.keyboard.press('Control+k');
    await page.waitForSelector('dialog[open] [role=combobox]');
  },

  async 'two fingers zoom, one scrolls'(keep) {
    const page = keep(
      await openCharts('demo', '', {
        viewport: { width: 390, height: 800 },
        hasTouch: true,
        isMobile: true,
      }),
    );
    const box = await page.locator(CHART).first().boundingBox();
    const touch = await page.context().newCDPSession(page);
    const at = (left, right) => [
      { x: box.x + left, y: box.y + 80, id: 1 },
      { x: box.x + right, y: box.y + 80, id: 2 },
    ];
    await touch.send('Input.dispatchTouchEvent', {
      type: 'touchStart',
      touchPoints: at(150, 210),
    });
    for (let i = 1; i <= 6; i++)
      await touch.send('Input.dispatchTouchEvent', {
        type: 'touchMove',
        touchPoints: at(150 - i * 12, 210 + i * 12),
      });
    await touch.send('Input.dispatchTouchEvent', {
      type: 'touchEnd',
      touchPoints: [],
    });
    await until('zoomed', () => page.evaluate(() => /zoom=/.test(location.hash)));
    await shot(page, 'phone-zoomed');
  },

  async 'an empty folder says what to do, and shows what comes'(keep) {
    const server = await serve('fresh');
    const page = keep(await open(server));
    await page.waitForSelector('pre');
    const run = new RunWriter(server.logdir, 'first').flush();
    for (let step = 0; step < 20; step++) run.scalars(step, { 'train/loss': 1 / (step + 1) });
    run.flush();
    await page.waitForSelector(CHART, { timeout: 15000 });
  },

  async 'damage is told, down to the file'(keep) {
    const server = await serve('fresh', (logdir) => {
      const run = new RunWriter(logdir, 'hurt');
      for (let step = 0; step < 200; step++) run.scalars(step, { loss: step });
      run.damage(60).flush();
    });
    const page = keep(await openCharts(server));
    await page.getByRole('button', { name: /damaged/ }).click();
    await page.waitForSelector('dialog[open] li code');
    await soon(async () => assert.match(await page.locator('dialog[open]').innerText(), /tfevents/));
    await shot(page, 'damage');
  },

  async 'a server that goes and comes back is noticed'(keep) {
    const server = await serve('fresh', (logdir) => {
      const run = new RunWriter(logdir, 'r');
      for (let step = 0; step < 20; step++) run.scalars(step, { loss: step });
      run.flush();
    });
    const page = keep(await openCharts(server, '', { allowErrors: true }));
    await server.stop();
    await page.waitForSelector('.lost', { timeout: 20000 });
    await soon(async () =>
      assert.match(await page.locator('.lost').innerText(), /The server has not answered since .*\d\d:\d\d:\d\d/),
    );
    await soon(async () =>
      assert.match(await page.locator('header [role=status]').innerText(), /disconnected · retrying/),
    );
    await shot(page, 'disconnected');
    await server.start();
    await until('back', async () => (await page.locator('.lost').count()) === 0, 20000);
  },

  ...Object.fromEntries(
    [
      ['en-GB', 'More'],
      ['zh-CN', '更多'],
    ].map(([locale, word]) => [
      `every tab is in the header or behind its menu at any width, and nothing is cut, in ${locale}`,
      async (keep) => {
        const server = await serve('fresh', (logdir) => {
          cpSync(join(ROOT, 'tests/fixtures/tf/v2'), join(logdir, 'v2'), { recursive: true });
          cpSync(join(ROOT, 'tests/fixtures/tf/v1'), join(logdir, 'v1'), { recursive: true });
        });
        await until('read', async () => Object.keys((await loaded(server)).plugins).length >= 6);
        const page = keep(await openCharts(server, '', { locale }));
        const nav = page.locator('header nav');
        const menu = nav.getByRole('button', { name: word, exact: false }).last();
        const inNav = () => nav.locator('button:not([aria-haspopup])').allInnerTexts();
        let all = 0;
        for (const width of [1440, 1100, 800]) {
          await page.setViewportSize({ width, height: 900 });
          await soon(async () => {
            const cut = await nav.evaluate((e) => {
              const { right } = e.getBoundingClientRect();
              return [...e.children].filter((c) => c.getBoundingClientRect().right > right + 0.5).length;
            });
            assert.equal(cut, 0, `${cut} are cut at ${width}`);
          });
          await soon(async () =>
            assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)),
          );
          await shot(page, `header-${width}-${locale.slice(0, 2)}`);
          const tabs = await inNav();
          await menu.click();
          const behind = await page.getByRole('menuitem').count();
          await page.keyboard.press('Escape');
          all ||= tabs.length + behind;
          assert.equal(tabs.length + behind, all);
          assert.ok(tabs.length >= 2, tabs.join());
        }
        // one from behind the menu takes the last place; those before it stay where they are
        const before = await nav.locator('button').first().boundingBox();
        await menu.click();
        const [name] = (await page.getByRole('menuitem').first().innerText()).trim().split('\n');
        await page.getByRole('menuitem').first().click();
        await soon(async () => {
          const open = await nav.locator('[aria-current=page]').innerText();
          assert.ok(open.startsWith(name), `${open} is not ${name}`);
        });
        await soon(async () => assert.deepEqual(await nav.locator('button').first().boundingBox(), before));
      },
    ]),
  ),

  async 'a phone shows one card a row and the runs as a sheet'(keep) {
    const page = keep(
      await openCharts('demo', '', {
        viewport: { width: 390, height: 800 },
        hasTouch: true,
        isMobile: true,
      }),
    );
    await soon(async () => assert.equal(await page.locator('aside').count(), 0));
    await shot(page, 'phone');
    // the cards scroll within the page: only those in sight exist
    await soon(async () =>
      assert.ok(
        await page
          .locator('.cards')
          .evaluate((box) => box.clientHeight < innerHeight && box.scrollHeight > innerHeight),
      ),
    );
    const lefts = () => page.locator('.slot').evaluateAll((all) => all.map((e) => e.getBoundingClientRect().left));
    await soon(async () => assert.equal(new Set(await lefts()).size, 1));
    await soon(async () => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)));
    await axe(page, 'phone');
    await page.locator('header').getByRole('button', { name: 'More', exact: true }).last().click();
    await page.getByRole('menuitem', { name: 'Light or dark' }).click();
    await until('dark', () => page.evaluate(() => document.documentElement.dataset.theme === 'dark'));
    await shot(page, 'phone-dark');
    await page.getByRole('button', { name: 'Show or hide the runs' }).first().click();
    await page.waitForSelector('aside');
    await shot(page, 'phone-runs');
    await page.locator('.veil').click({ position: { x: 380, y: 400 } });
    await until('closed', async () => (await page.locator('aside').count()) === 0);
  },
};
