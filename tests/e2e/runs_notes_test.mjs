// What people say of runs and do with them: menus, many at once, tags, colours, baseline; and the drawer of details.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { RunWriter } from './logs.mjs';
import { axe, card, kept, openCharts, serve, shot, soon, until } from './harness.mjs';
import { menuOf, names, rowOf, waitHash } from './runs.mjs';

const footer = (page, tag) => card(page, tag).locator('footer').innerText();
const colours = (page) =>
  page.locator('[data-run] .swatch').evaluateAll((all) => all.map((e) => getComputedStyle(e).getPropertyValue('--c')));

const five = () =>
  serve('fresh', (logdir) => {
    for (const name of ['a/1', 'a/2', 'b/1', 'b/2', 'c'])
      new RunWriter(logdir, name).hparams({ lr: 0.1 }).scalars(0, { loss: 1 }).scalars(1, { loss: 2 }).flush();
  });

export default {
  async 'tags are given to many runs at once, kept, filtered and grouped by'(keep) {
    const server = await five();
    const page = keep(await openCharts(server));
    await rowOf(page, 'a/1').locator('.name').click();
    await rowOf(page, 'b/1')
      .locator('.name')
      .click({ modifiers: ['Shift'] });
    await page.getByRole('toolbar', { name: 'Selected runs' }).getByText('3 selected').waitFor();
    await rowOf(page, 'a/2')
      .locator('.name')
      .click({ modifiers: ['Control'] });
    await page.getByText('2 selected').waitFor();
    await shot(page, 'runs-picked');
    await page.getByRole('button', { name: 'Tags…' }).click();
    await page.getByLabel('New tag').fill('baseline, old');
    await page.getByRole('button', { name: 'Add' }).click();
    await until(
      'chips',
      async () => (await rowOf(page, 'a/1').locator('.tag').allInnerTexts()).join() === 'baseline,old',
    );
    await page.getByLabel('old').uncheck();
    await until(
      'one chip',
      async () => (await rowOf(page, 'b/1').locator('.tag').allInnerTexts()).join() === 'baseline',
    );
    await kept(server, 'run/b/1', ({ tags }) => tags?.join() === 'baseline');
    await page.keyboard.press('Escape');
    await page.reload();
    await page.waitForSelector('.tag');
    await page.locator('#run-filter').fill('tag:baseline');
    await until('two', async () => (await names(page)).sort().join() === 'a/1,b/1');
    await page.locator('#run-filter').fill('');
    await page.getByRole('button', { name: /^Group/ }).click();
    await page.getByRole('menuitemcheckbox', { name: 'By tag' }).click();
    await until(
      'two groups',
      async () =>
        (await page.locator('[data-group]').evaluateAll((all) => all.map((e) => e.dataset.group))).join() ===
        'baseline,–',
    );
    await shot(page, 'runs-tags');
  },

  async 'a message with Undo stays while the pointer or the focus is on it, and goes by itself afterwards'(keep) {
    const page = keep(await openCharts(await five()));
    const message = page.locator('.message');
    const isThere = async (expected) => soon(async () => assert.equal(await message.count(), expected));
    await page.clock.install();
    await menuOf(page, 'c', 'Archive');
    await message.hover();
    await page.clock.fastForward(60_000);
    await isThere(1);
    await page.mouse.move(700, 300);
    await page.clock.fastForward(60_000);
    await isThere(0);
    await menuOf(page, 'b/1', 'Archive');
    await message.getByRole('button', { name: 'Undo' }).focus();
    await page.clock.fastForward(60_000);
    await isThere(1);
    await page.keyboard.press('Enter');
    await isThere(0);
    await soon(async () => assert.ok((await names(page)).includes('b/1')));
  },

  async 'archiving, renaming and tagging are undone in their turn, by Ctrl-Z or by the message'(keep) {
    const server = await five();
    const page = keep(await openCharts(server));
    const all = ['a/1', 'a/2', 'b/1', 'b/2', 'c'];
    const listed = async (expected) => soon(async () => assert.deepEqual((await names(page)).sort(), expected));
    await listed(all);
    await page.getByRole('radio', { name: 'Relative' }).click();
    await waitHash(page, 'x=relative');
    await menuOf(page, 'c', 'Archive');
    await listed(all.slice(0, 4));
    await page.keyboard.press('Control+z');
    await listed(all);
    assert.ok((await waitHash(page, 'x=relative')) !== '');
    await page.keyboard.press('Control+Shift+z');
    await listed(all.slice(0, 4));
    await page.keyboard.press('Control+z');
    await listed(all);

    // the message takes back its own change, whatever came after
    await rowOf(page, 'a/1').locator('.name').click();
    await rowOf(page, 'b/2')
      .locator('.name')
      .click({ modifiers: ['Shift'] });
    await page.getByRole('button', { name: 'Archive' }).click();
    await listed(['c']);
    await page.getByRole('radio', { name: 'Wall' }).click();
    await waitHash(page, 'x=wall');
    const message = page.locator('.message');
    await soon(async () => assert.match(await message.innerText(), /Archived 4 runs/));
    await message.getByRole('button', { name: 'Undo' }).click();
    await listed(all);
    await waitHash(page, 'x=wall');

    await menuOf(page, 'c', 'Rename…');
    await page.waitForSelector('dialog[open] [name=name]:focus');
    await page.keyboard.type('best');
    await page.keyboard.press('Enter');
    const named = (text) => soon(async () => assert.ok((await rowOf(page, 'c').innerText()).includes(text)));
    await named('best');
    await menuOf(page, 'c', 'Tags…');
    await soon(async () => assert.equal(await page.evaluate(() => document.activeElement?.placeholder), 'New tag'));
    await page.keyboard.type('gold');
    await page.keyboard.press('Enter');
    const tags = (expected) =>
      soon(async () => assert.deepEqual(await rowOf(page, 'c').locator('.tag').allInnerTexts(), expected));
    await tags(['gold']);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+z');
    await tags([]);
    await named('best');
    await page.keyboard.press('Control+z');
    await named('c');
    const kept = async () => (await (await fetch(`${server.url}api/v1/state`)).json()).items['run/c'];
    await soon(async () => assert.equal(await kept(), undefined));
  },

  async 'the dialog of saved views takes a name at once, and Enter saves'(keep) {
    const server = await five();
    const page = keep(await openCharts(server));
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('menuitem').first().click();
    await page.waitForSelector('dialog[open] #view-name');
    await soon(async () => assert.equal(await page.evaluate(() => document.activeElement?.id), 'view-name'));
    await page.keyboard.type('mine');
    await page.keyboard.press('Enter');
    const kept = async () => Object.keys((await (await fetch(`${server.url}api/v1/state`)).json()).items);
    await soon(async () => assert.deepEqual(await kept(), ['view/mine']));
  },

  async 'changes that follow each other quickly are all kept'(keep) {
    const server = await five();
    const page = keep(await openCharts(server));
    await menuOf(page, 'c', 'Tags…');
    await page.getByLabel('New tag').fill('p, q, r, s');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.waitForSelector('dialog li:nth-child(4)');
    await page.evaluate(() =>
      document.querySelectorAll('dialog li:nth-child(n + 2) input').forEach((box) => box.click()),
    );
    const kept = async () => (await (await fetch(`${server.url}api/v1/state`)).json()).items['run/c'];
    await until('one left', async () => JSON.stringify(await kept()) === '{"tags":["p"]}');
    await soon(async () => assert.deepEqual(await rowOf(page, 'c').locator('.tag').allInnerTexts(), ['p']));
  },

  async 'a note is a sign in its row and a column of the list'(keep) {
    const page = keep(await openCharts(await five(), '#timeseries&cols=i:note'));
    await soon(async () => assert.equal(await page.locator('[role=columnheader][data-column="i:note"]').count(), 1));
    await soon(async () => assert.equal(await page.locator('[data-run] .noted').count(), 0));
    await menuOf(page, 'a/1', 'Note…');
    await page.getByLabel('Note', { exact: true }).fill('from a long night');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await soon(async () => assert.match(await rowOf(page, 'a/1').innerText(), /✎\s+from a long night/));
    await soon(async () => assert.equal(await page.locator('[data-run] .noted').count(), 1));
  },

  async 'a right click renames, notes, tags, solos, hides, archives, copies'(keep) {
    const server = await five();
    const page = keep(
      await openCharts(server, '', {
        permissions: ['clipboard-read', 'clipboard-write'],
      }),
    );
    await menuOf(page, 'a/1', 'Rename…');
    await page.getByLabel('Display name').fill('the first');
    await page.getByLabel('Note', { exact: true }).fill('from a long night');
    await page.getByLabel('Tags', { exact: true }).fill('x, y,x');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await until('renamed', async () => (await rowOf(page, 'a/1').locator('.leaf').innerText()) === 'the first');
    await soon(async () =>
      assert.match(
        await rowOf(page, 'a/1').locator('.name').getAttribute('title'),
        /^a\/1 · from a long night · #x · #y$/,
      ),
    );
    await menuOf(page, 'a/2', 'Show only this run');
    await until('one', async () => (await footer(page, 'loss')).startsWith('1 run '));
    await menuOf(page, 'a/2', 'Show only this run');
    await menuOf(page, 'a/2', 'Hide');
    await until('four', async () => (await footer(page, 'loss')).startsWith('4 runs'));
    await menuOf(page, 'b/1', 'Copy name');
    await soon(async () => assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'b/1'));
    await menuOf(page, 'b/1', 'Copy folder path');
    await soon(async () =>
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), join(server.logdir, 'b/1')),
    );
    await menuOf(page, 'c', 'Archive');
    await until('gone', async () => (await names(page)).length === 4);
    await menuOf(page, 'b/2', 'Use as baseline');
    await until('marked', async () => (await rowOf(page, 'b/2').locator('.tag').innerText()) === 'baseline');
    await waitHash(page, 'base=b/2');
  },

  async 'the keyboard picks, opens the menu, renames and archives many'(keep) {
    const server = await five();
    const page = keep(await openCharts(server));
    await page.locator('[role=treegrid]').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.getByText('3 selected').waitFor();
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Show only these 3 runs' }).waitFor();
    await page.keyboard.press('a');
    await page.keyboard.press('Enter');
    await until('archived', async () => (await names(page)).length === 2);
    await page.keyboard.press('Home');
    await page.keyboard.press('F2');
    await page.getByLabel('Display name').fill('zz');
    await page.keyboard.press('Enter');
    await until('renamed', async () => (await page.locator('.leaf').first().innerText()) === 'zz');
    await page.getByRole('button', { name: '3 archived' }).click();
    await until('listed', async () => (await names(page)).length === 3);
    await page.locator('[role=treegrid]').focus();
    await page.keyboard.press('Control+a');
    await page.getByRole('toolbar').getByRole('button', { name: 'Unarchive' }).click();
    await page.getByText('No run matches the filter.').waitFor();
  },

  async 'any colour can be chosen for a run and is kept'(keep) {
    const server = await five();
    const page = keep(await openCharts(server));
    await menuOf(page, 'a/1', 'Colour…');
    await page.getByLabel('Any colour').fill('#123456');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await until('coloured', async () => (await colours(page))[0] === '#123456');
    await kept(server, 'run/a/1', ({ colour }) => colour === '#123456');
    await page.reload();
    await page.waitForSelector('[data-run]');
    await until('kept', async () => (await colours(page))[0] === '#123456');
    await menuOf(page, 'a/1', 'Colour…');
    await page.getByRole('button', { name: 'Automatic' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await until('its own again', async () => (await colours(page))[0] !== '#123456');
  },

  async 'colours by an expression: groups are shown while one types, and can be given a colour'(keep) {
    const server = await five();
    const page = keep(await openCharts(server));
    await page.getByRole('button', { name: /^Colour/ }).click();
    await page
      .getByRole('menuitemcheckbox', {
        name: 'By regular expression…',
      })
      .click();
    const dialog = page.getByRole('dialog', {
      name: 'Colour runs by an expression',
    });
    const source = dialog.getByLabel('Regular expression over names');
    await source.fill('(');
    await soon(async () => assert.equal(await source.getAttribute('aria-invalid'), 'true'));
    await source.fill('^(\\w)/');
    const preview = dialog.getByRole('list', { name: 'Groups' });
    await until('three', async () => (await preview.getByRole('listitem').count()) === 3);
    await soon(async () => assert.match(await preview.innerText(), /a \(2\)\s*a\/1, a\/2/));
    await shot(page, 'runs-regex');
    await preview.getByLabel('Colour of a', { exact: true }).fill('#00ff00');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await until('by group', async () => (await colours(page)).slice(0, 2).join() === '#00ff00,#00ff00');
    await soon(async () => assert.equal(new Set(await colours(page)).size, 3));
    const hash = await waitHash(page, 'colour=regex:');
    const other = keep(await openCharts(server, hash));
    await until('the same', async () => (await colours(other)).join() === (await colours(page)).join());
  },

  async 'the colour of a group is chosen from its menu'(keep) {
    const server = await serve('demo');
    const page = keep(await openCharts(server, '#timeseries&group=path&colour=group'));
    await page.locator('[data-group="vit-b16"]').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Colour of the group…' }).click();
    await page.getByLabel('Any colour').fill('#884400');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await until('three of it', async () => (await colours(page)).filter((c) => c === '#884400').length === 3);
    await page.locator('[data-group="vit-b16"]').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Colour of the group…' }).click();
    await page.getByRole('button', { name: 'Automatic' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await until('as before', async () => !(await colours(page)).includes('#884400'));
  },

  async 'the header toggles all that the filter finds and nothing else; a double click shows one alone'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&runs=vit'));
    await page.getByRole('button', { name: 'Hide all runs' }).click();
    await page.locator('#run-filter').fill('');
    await until('six', async () => (await footer(page, 'train/loss')).startsWith('6 runs'));
    await page.locator('#run-filter').fill('vit|resnet');
    await page.locator('aside').getByRole('button', { name: 'Show all runs' }).first().click();
    await page.locator('#run-filter').fill('');
    await until('nine', async () => (await footer(page, 'train/loss')).startsWith('9 runs'));
    await page.getByRole('button', { name: 'Show or hide vit-b16/seed2' }).dblclick();
    await until('one', async () => (await footer(page, 'train/loss')).startsWith('1 run '));
    await until('only', () => page.evaluate(() => location.hash === '#timeseries&only=vit-b16/seed2'));
  },

  async 'the drawer has metrics, hyperparameters and files of a run; a link opens it; Escape closes it'(keep) {
    const page = keep(await openCharts('demo'));
    await page.locator('[role=treegrid]').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('d');
    const drawer = page.getByRole('complementary', {
      name: 'Details of a run',
    });
    const first = (await names(page))[0];
    await until('metrics', async () => (await drawer.getByRole('listitem').count()) > 5);
    await soon(async () =>
      assert.match(await drawer.innerText(), /state\s+(running|finished)[^]*start[^]*duration[^]*points/),
    );
    await drawer.getByLabel('Find a metric').fill('val/loss');
    await until('one metric', async () => (await drawer.getByRole('listitem').count()) === 1);
    await soon(async () =>
      assert.match(
        await drawer.getByRole('listitem').innerText(),
        /val\/loss[^]*step [\d\u2009]+[^]*step [\d\u2009]+[^]*step [\d\u2009]+/,
      ),
    );
    await shot(page, 'details');
    await drawer.getByRole('radio', { name: /^Hyperparameters/ }).click();
    await until('hparams', async () => /lr differs[^]*model differs/.test(await drawer.innerText()));
    await drawer.getByRole('radio', { name: /^Files/ }).click();
    await until('files', async () => /tfevents[^]*records/.test(await drawer.innerText()));
    await shot(page, 'details-files');
    const hash = await waitHash(page, `details=${first}`);
    await page.locator('body').press('Escape');
    await until('closed', async () => (await drawer.count()) === 0);
    const other = keep(await openCharts('demo', hash));
    await other.getByRole('complementary', { name: 'Details of a run' }).getByText(first).waitFor();
    const grip = other.getByRole('separator', {
      name: 'Width of the details',
    });
    await grip.focus();
    const before = (await other.locator('aside').nth(1).boundingBox()).width;
    await other.keyboard.press('ArrowLeft');
    await until('wider', async () => (await other.locator('aside').nth(1).boundingBox()).width === before + 16);
    const gone = keep(await openCharts('demo', '#timeseries&details=nobody'));
    await gone.getByText('There is no run called “nobody”.').waitFor();
  },

  async 'the drawer tells of damaged files and of what is new'(keep) {
    const server = await serve('fresh', (logdir) => {
      const run = new RunWriter(logdir, 'hurt');
      for (let step = 0; step < 200; step++) run.scalars(step, { loss: step });
      return run.damage(60).flush();
    });
    const run = server.filled;
    const page = keep(await openCharts(server, '#timeseries&details=hurt'));
    const drawer = page.getByRole('complementary', {
      name: 'Details of a run',
    });
    await until('last', async () => /step 199/.test(await drawer.innerText()));
    run.scalars(200, { loss: 7.5 }).flush();
    await until('news', async () => /step 200/.test(await drawer.innerText()));
    await drawer.getByRole('radio', { name: /^Files/ }).click();
    await until('damage', async () => /1 damaged record/.test(await drawer.innerText()));
  },

  async 'a phone shows the details as a sheet'(keep) {
    const page = keep(
      await openCharts('demo', '#timeseries&details=vit-b16/seed1', {
        viewport: { width: 390, height: 800 },
        hasTouch: true,
      }),
    );
    const drawer = page.getByRole('complementary', {
      name: 'Details of a run',
    });
    await until('metrics', async () => (await drawer.getByRole('listitem').count()) > 3);
    await soon(async () => {
      const box = await drawer.boundingBox();
      assert.ok(box.width === 390 && box.y + box.height === 800 && box.height > 400, JSON.stringify(box));
    });
    await shot(page, 'phone-details');
  },

  ...Object.fromEntries(
    [
      ['light', 'en-GB'],
      ['dark', 'zh-CN'],
    ].map(([colorScheme, locale]) => [
      `axe finds nothing in the tree, its menus, popovers, dialogs and the drawer, ${colorScheme}`,
      (keep) => axeAll(keep, colorScheme, locale),
    ]),
  ),
};

async function axeAll(keep, colorScheme, locale) {
  const page = keep(
    await openCharts(
      'grove',
      '#timeseries&group=tree&details=nlp/sweep-0/run-00000&cols=m:min:val/loss,h:lr,h:opt&where=h:opt\\,\\,\\,=\\,adam',
      { colorScheme, locale },
    ),
  );
  await page.waitForSelector('aside [role=listitem]');
  await page.locator('[data-run]').first().locator('.name').click();
  await page
    .locator('[data-run]')
    .nth(2)
    .locator('.name')
    .click({ modifiers: ['Shift'] });
  await axe(page, 'tree', '.middle');
  await shot(page, `runs-${colorScheme}`);
  const grid = page.locator('[role=treegrid]');
  await grid.focus();
  await page.keyboard.press('Shift+F10');
  await page.waitForSelector('[role=menu]');
  await axe(page, 'menu', '[role=menu]');
  await page.keyboard.press('Escape');
  for (const [what, button] of [
    ['filter', '[data-column="h:lr"] .funnel'],
    ['top', '.chips .chip >> nth=2'],
  ]) {
    await page.locator(button).click();
    await page.waitForSelector('[popover] input');
    await axe(page, what, '[popover]');
    await shot(page, `runs-${what}-${colorScheme}`);
    await page.keyboard.press('Escape');
  }
  await page.locator('.line .icon').first().click();
  await page.waitForSelector('dialog[open] input');
  await axe(page, 'columns', 'dialog');
  await shot(page, `runs-columns-${colorScheme}`);
  await page.keyboard.press('Escape');
  await grid.focus();
  await page.keyboard.press('F2');
  await page.waitForSelector('dialog[open] form');
  await axe(page, 'edit', 'dialog');
  await shot(page, `runs-edit-${colorScheme}`);
}
