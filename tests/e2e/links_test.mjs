// Addresses: TensorBoard's links open the same view here, ours show everybody the same; saved views, undo, tastes.
import assert from 'node:assert/strict';
import { address, CHART, open, openCharts, card, serve, shot, soon, until } from './harness.mjs';

const hash = (page) => page.evaluate(() => location.hash);
const rowsShown = (page) => page.locator('[data-run]:not(.off)').count();
/** What a person sees of a view, as values. */
const sight = (page) =>
  page.evaluate(() => ({
    runs: [...document.querySelectorAll('[data-run]')].map((e) => `${e.dataset.run} ${e.classList.contains('off')}`),
    cards: [...document.querySelectorAll('.slot [data-tag]')].map((e) => e.dataset.tag),
    colours: [...document.querySelectorAll('[data-run] .swatch')].map((e) => e.style.getPropertyValue('--c')),
    axis: document.querySelector('[role=radio][aria-checked=true]')?.textContent,
    smoothing: document.querySelector('input[type=range]')?.value,
    filter: document.querySelector('#tag-filter')?.value,
    runFilter: document.querySelector('#run-filter')?.value,
    footer: [...document.querySelectorAll('.slot footer')].map((e) => e.innerText),
  }));

export default {
  async "TensorBoard's query keys open the same view"(keep) {
    const pinned = JSON.stringify([
      { plugin: 'scalars', tag: 'val/loss' },
      { plugin: 'images', tag: 'x', runId: 'r', sample: 0 },
    ]);
    const query = `?smoothing=0.9&tagFilter=&runFilter=vit&runColorGroup=${encodeURIComponent('regex:(seed-\\d)')}&pinnedCards=${encodeURIComponent(pinned)}&other=%7ekept&flag`;
    const page = keep(await openCharts('demo', '#timeseries', { query }));
    await until('the rest of the query stays as it was', () =>
      page.evaluate(() => location.search === '?other=%7ekept&flag'),
    );
    await soon(async () => assert.equal(await page.locator('input[type=range]').first().inputValue(), '0.9'));
    await soon(async () => assert.equal(await page.locator('#run-filter').inputValue(), 'vit'));
    await until('three runs', async () => (await page.locator('[data-run]').count()) === 3);
    await soon(async () =>
      assert.equal(await page.locator('.slot [data-tag]').first().getAttribute('data-tag'), 'val/loss'),
    );
    await soon(async () => assert.match(await hash(page), /group=regex:/));
    await soon(async () => assert.match(await hash(page), /colour=group/));
  },

  async "the hashes of TensorBoard's old dashboards open the same view"(keep) {
    const first = keep(await openCharts('demo'));
    const names = await first.locator('[data-run]').evaluateAll((all) => all.map((e) => e.dataset.run));
    const state = Buffer.from(JSON.stringify({ [names[0]]: false, [names[1]]: true })).toString('base64');
    const page = keep(
      await openCharts(
        'demo',
        `#scalars&tagFilter=loss&_smoothingWeight=0.3&regexInput=seed&runSelectionState=${encodeURIComponent(state)}`,
      ),
    );
    await until('one run is hidden', async () => (await page.locator('[data-run].off').count()) === 1);
    await soon(async () => assert.equal(await page.locator('[data-run].off').getAttribute('data-run'), names[0]));
    await soon(async () =>
      assert.deepEqual(await page.locator('.slot [data-tag]').evaluateAll((all) => all.map((e) => e.dataset.tag)), [
        'train/loss',
        'val/loss',
      ]),
    );
    await soon(async () => assert.equal(await page.locator('input[type=range]').first().inputValue(), '0.3'));
    await soon(async () => assert.equal(await page.locator('#run-filter').inputValue(), 'seed'));
    await soon(async () => assert.match(await hash(page), /^#timeseries&/));
  },

  async 'darkMode in the address is obeyed until somebody chooses'(keep) {
    const theme = (page) => page.evaluate(() => document.documentElement.dataset.theme);
    const page = keep(
      await openCharts('demo', '', {
        query: '?darkMode=true',
        colorScheme: 'light',
      }),
    );
    await soon(async () => assert.equal(await theme(page), 'dark'));
    await page.keyboard.press('t');
    await until('light', async () => (await theme(page)) === 'light');
    await until('the address does not want it any more', () => page.evaluate(() => location.search === ''));
    await page.reload();
    await page.waitForSelector(CHART);
    await soon(async () => assert.equal(await theme(page), 'light'));
  },

  async 'one click copies a short link to what was just zoomed, also where pages have no clipboard'(keep) {
    const permissions = ['clipboard-read', 'clipboard-write'];
    for (const plain of [false, true]) {
      const before = plain
        ? (p) =>
            p.addInitScript(() =>
              Object.defineProperty(navigator, 'clipboard', {
                value: undefined,
              }),
            )
        : undefined;
      const page = keep(await openCharts('demo', '', { permissions, before }));
      const box = await card(page, 'train/loss').locator('.plot').boundingBox();
      await page.mouse.move(box.x + 120, box.y + 60);
      await page.mouse.down();
      await page.mouse.move(box.x + 220, box.y + 80, { steps: 4 });
      await page.mouse.up();
      await page.getByRole('button', { name: 'Copy a link to this view' }).click();
      await page.waitForSelector('text=Link copied');
      const other = keep(await openCharts('demo', '', { permissions }));
      const link = await other.evaluate(() => navigator.clipboard.readText());
      assert.match(link, /zoom=\d{1,4}(\.\d{1,2})?~\d{1,4}(\.\d{1,2})?%7C%7Ctrain\/loss$/);
      await other.goto(link);
      await until('the same range', async () => (await hash(other)) === (await hash(page)));
    }
  },

  async 'a link shows somebody else all of what was seen'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&group=path&pins=val/accuracy'));
    await page.locator('[data-run] .swatch').nth(1).click();
    await page.locator('#tag-filter').fill('loss|accuracy');
    await page.getByRole('radio', { name: 'Relative' }).click();
    await page.locator('input[type=range]').first().fill('0.85');
    await page.waitForFunction((chart) => document.querySelectorAll(chart).length >= 3, CHART);
    const box = await card(page, 'train/loss').locator('.plot').boundingBox();
    await page.mouse.move(box.x + box.width * 0.4, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + 60, {
      steps: 4,
    });
    await page.mouse.up();
    await until('zoomed', async () => /zoom=/.test(await hash(page)));
    await page.mouse.move(2, 2);
    await until('drawn', async () => !(await page.locator('.skeleton').count()));
    const settled = async (p) => {
      let last = '';
      return until('it settles', async () => {
        const now = JSON.stringify(await sight(p));
        const same = now === last;
        last = now;
        return same;
      });
    };
    await settled(page);
    const link = await address(page);
    const other = keep(
      await openCharts('demo', link, {
        locale: 'en-GB',
        viewport: { width: 1440, height: 900 },
      }),
    );
    await until('the same', async () => {
      const [a, b] = [await sight(page), await sight(other)];
      return JSON.stringify(a) === JSON.stringify(b);
    });
    await soon(async () => assert.equal(await hash(other), link));
    await shot(other, 'shared-link');
  },

  async 'the view survives a reload'(keep) {
    const page = keep(
      await openCharts('demo', '#timeseries&logy=train/loss&closed=/val&x=wall&sort=-name&hide=vit-b-16/seed-1'),
    );
    await until('the address of now', async () => /ts\.closed=\/val&ts\.logy=train\/loss/.test(await hash(page)));
    const before = [await hash(page), await page.locator('[data-run]').first().getAttribute('data-run')];
    await page.reload();
    await page.waitForSelector(CHART);
    await soon(async () =>
      assert.deepEqual([await hash(page), await page.locator('[data-run]').first().getAttribute('data-run')], before),
    );
  },

  async 'undo and redo walk through the view'(keep) {
    const page = keep(await openCharts('demo'));
    const first = await hash(page);
    await page.locator('#tag-filter').fill('loss');
    await until('in the address', async () => /tags=loss/.test(await hash(page)));
    await page.locator('#tag-filter').blur();
    await page.keyboard.press('s');
    await until('smoothing is off', async () => /smooth=0(&|$)/.test(await hash(page)));
    await page.keyboard.press('Control+z');
    await until('smoothed again', async () => !/smooth=0(&|$)/.test(await hash(page)));
    await page.keyboard.press('Control+z');
    await until('as at first', async () => (await hash(page)) === first);
    await page.keyboard.press('Control+Shift+z');
    await page.keyboard.press('Control+Shift+z');
    await until('redone', async () => /tags=loss.*smooth=0(&|$)/.test(await hash(page)));
  },

  async 'tastes come back on an address without a view, never on a link'(keep) {
    const page = keep(await openCharts('demo'));
    await page.locator('input[type=range]').first().fill('0.95');
    await page.getByRole('radio', { name: 'Relative' }).click();
    await card(page, 'train/loss').hover();
    await card(page, 'train/loss').getByRole('button', { name: 'Pin', exact: true }).click();
    await until('kept', async () => /smooth=0.95/.test(await hash(page)) && /pins=/.test(await hash(page)));
    const base = page.url().split('#')[0];
    await page.goto('about:blank');
    await page.goto(base);
    await page.waitForSelector(CHART);
    await soon(async () => assert.match(await hash(page), /pins=train\/loss.*x=relative.*smooth=0.95/));
    await page.goto('about:blank');
    await page.goto(`${base}#timeseries&tags=accuracy`);
    await page.waitForSelector(CHART);
    await soon(async () => assert.equal(await hash(page), '#timeseries&tags=accuracy'));
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByLabel(/Remember pinned cards/).uncheck();
    await page.keyboard.press('Escape');
    await page.goto('about:blank');
    await page.goto(base);
    await page.waitForSelector(CHART);
    await soon(async () => assert.doesNotMatch(await hash(page), /pins=/));
  },

  async 'views are saved, opened, renamed and deleted, for everybody'(keep) {
    const server = await serve('demo');
    const page = keep(await openCharts(server, '#timeseries&tags=accuracy&x=wall'));
    const manage = async (p) => {
      await p.getByRole('button', { name: 'Views' }).click();
      await p.getByRole('menuitem', { name: 'Save or manage views…' }).click();
      await p.waitForSelector('dialog[open]');
    };
    await manage(page);
    await page.getByLabel('Name of the view').fill('wall of accuracy');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved as “wall of accuracy”').waitFor();
    const other = keep(await openCharts(server, '#timeseries&tags=grad'));
    await other.getByRole('button', { name: 'Views' }).click();
    await other.getByRole('menuitem', { name: 'wall of accuracy' }).click();
    await until('opened', async () => (await hash(other)) === '#timeseries&tags=accuracy&x=wall');
    await other.locator('.message button').click(); // undo
    await until('undone', async () => (await hash(other)) === '#timeseries&tags=grad');
    await manage(other);
    await shot(other, 'saved-views');
    await other.getByRole('button', { name: 'Rename wall of accuracy' }).click();
    await other.keyboard.press('Control+a');
    await other.keyboard.type('wall');
    await other.keyboard.press('Enter');
    await other.getByRole('button', { name: 'wall', exact: true }).waitFor();
    await other.getByRole('button', { name: 'Delete wall' }).click();
    await until('gone', async () => (await other.getByRole('button', { name: 'wall', exact: true }).count()) === 0);
    await other.keyboard.press('Escape');
    await other.locator('.message button').click(); // undo
    await until(
      'back on the server',
      async () => 'view/wall' in (await (await fetch(`${server.url}api/v1/state`)).json()).items,
    );
    await manage(other);
    await other.getByRole('button', { name: 'wall', exact: true }).click();
    await until('opened', async () => (await hash(other)) === '#timeseries&tags=accuracy&x=wall');
  },

  async 'Back goes to the tab before'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&tags=loss'));
    await page.getByRole('button', { name: /^More ▾/ }).click();
    await page.getByRole('menuitem', { name: /Images/ }).click();
    await until('images', async () => (await hash(page)).startsWith('#images'));
    await page.goBack();
    await until('back', async () => (await hash(page)) === '#timeseries&tags=loss');
    await page.waitForSelector(CHART);
  },
};
