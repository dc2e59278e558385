// The page without a mouse: which keys work where, what is read aloud, where the focus goes.
import assert from 'node:assert/strict';
import { address, axe, card, openCharts, soon } from './harness.mjs';

const focusedCard = (page) => page.evaluate(() => document.activeElement?.closest('[data-card]')?.dataset.tag ?? '');

/** Presses a key and types a text within one task, as a fast hand does on a slow machine; what the field has then. */
const atOnce = (page, key, text) =>
  page.evaluate(
    ([pressed, typed]) => {
      document.activeElement.dispatchEvent(
        new KeyboardEvent('keydown', { key: pressed, bubbles: true, cancelable: true }),
      );
      document.execCommand('insertText', false, typed);
      return document.activeElement.value;
    },
    [key, text],
  );

export default {
  async 'keys of the page work after the smoothing slider was touched'(keep) {
    const page = keep(await openCharts('demo'));
    await page.getByRole('slider', { name: 'Smoothing' }).click();
    await page.keyboard.press('t');
    await soon(async () => assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark'));
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('s');
    await soon(async () => assert.match(await address(page), /smooth=0&?/));
  },

  async 'J goes from card to card while the mouse rests on one'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&row=2&smooth=0.6'));
    const box = await card(page, 'train/lr').boundingBox();
    await page.mouse.move(box.x + 60, box.y + 60);
    await page.mouse.move(box.x + 80, box.y + 80);
    const order = [];
    await page.keyboard.press('j');
    await soon(async () => assert.notEqual(await focusedCard(page), ''));
    order.push(await focusedCard(page));
    for (let i = 0; i < 5; i++) {
      await page.keyboard.press('j');
      await soon(async () => assert.ok(!['', order.at(-1)].includes(await focusedCard(page))));
      // two frames: a page that scrolled tells what is under the mouse now
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 150)))),
      );
      order.push(await focusedCard(page));
    }
    assert.deepEqual(order, [
      'train/tokens_per_s',
      'val/accuracy',
      'val/ece',
      'val/latency_ms',
      'val/loss',
      'val/top5',
    ]);
  },

  async 'the tooltip of the arrow keys is read aloud, and Escape dismisses it'(keep) {
    const page = keep(await openCharts('demo'));
    const chart = card(page, 'val/loss').locator('.plot');
    await chart.focus();
    await page.keyboard.press('ArrowRight');
    const said = card(page, 'val/loss').locator('[aria-live=polite]');
    await soon(async () => assert.match(await said.innerText(), /step 0.*seed\d.* \d\.\d+/is));
    const first = await said.innerText();
    await page.keyboard.press('ArrowRight');
    await soon(async () => assert.notEqual(await said.innerText(), first));
    await soon(async () => assert.equal(await page.locator('.tip').count(), 1));
    await page.keyboard.press('Escape');
    await soon(async () => assert.equal(await page.locator('.tip').count(), 0));
    await soon(async () => assert.equal(await said.innerText(), ''));
    await page.keyboard.press('ArrowRight');
    await soon(async () => assert.equal(await page.locator('.tip').count(), 1));
    // another part of the page has the keyboard: nothing is left behind
    await page.keyboard.press('/');
    await soon(async () => assert.equal(await page.locator('.tip').count(), 0));
  },

  async 'Escape in full size first dismisses the tooltip, then closes'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&full=val/loss'));
    const dialog = page.locator('dialog[open]');
    await dialog.locator('.plot').focus();
    await page.keyboard.press('ArrowRight');
    await soon(async () => assert.equal(await page.locator('.tip').count(), 1));
    await page.keyboard.press('Escape');
    await soon(async () => assert.equal(await page.locator('.tip').count(), 0));
    await soon(async () => assert.equal(await dialog.count(), 1));
    await page.keyboard.press('Escape');
    await soon(async () => assert.equal(await dialog.count(), 0));
  },

  async 'arrow keys choose in radio groups and walk along toolbars'(keep) {
    const page = keep(await openCharts('demo'));
    const axis = page.getByRole('radiogroup', { name: 'Horizontal axis' });
    await axis.getByRole('radio', { name: 'Step', exact: true }).focus();
    await page.keyboard.press('ArrowRight');
    await soon(async () => assert.match(await address(page), /x=relative/));
    await soon(async () =>
      assert.equal(
        await page.evaluate(() => document.activeElement?.textContent),
        await axis.getByRole('radio', { checked: true }).innerText(),
      ),
    );
    await page.keyboard.press('ArrowLeft');
    await soon(async () => assert.doesNotMatch(await address(page), /x=relative/));
    // one stop of the Tab key for all of them
    await soon(async () => assert.equal(await axis.locator("[tabindex='0']").count(), 1));

    const bar = page.getByRole('toolbar').first();
    const chips = bar.locator('button.chip');
    await chips.first().focus();
    await page.keyboard.press('ArrowRight');
    const text = () => page.evaluate(() => document.activeElement?.textContent?.trim());
    await soon(async () => assert.equal(await text(), await chips.nth(1).innerText()));
    await page.keyboard.press('End');
    await soon(async () => assert.equal(await text(), await chips.last().innerText()));
    await page.keyboard.press('ArrowLeft');
    await soon(async () => assert.equal(await text(), await chips.nth(-2).innerText()));
    await axe(page, 'toolbar', '[role=toolbar]');
  },

  async 'the Tab key comes to the buttons of a toolbar when the one that had the focus last is gone'(keep) {
    const page = keep(await openCharts('demo', '', { viewport: { width: 760, height: 800 } }));
    const bar = page.getByRole('toolbar').first();
    await bar.getByRole('button', { name: /^More/ }).focus();
    await page.keyboard.press('Enter');
    const last = bar.getByRole('button', { name: /^Saved views/ });
    await last.waitFor();
    await page.keyboard.press('ArrowLeft');
    await soon(async () => assert.ok(await last.evaluate((button) => button === document.activeElement)));
    await page.keyboard.press('Escape');
    await last.waitFor({ state: 'hidden' });
    await page.setViewportSize({ width: 2400, height: 800 });
    await soon(async () => assert.equal(await bar.getByRole('button', { name: /^More/ }).count(), 0));
    await page.locator('#tag-filter').focus();
    await page.keyboard.press('Tab');
    const stops = await bar
      .locator('button:visible:not([role=radio]):not(:disabled)')
      .evaluateAll((all) => all.filter((button) => button.tabIndex === 0).length);
    assert.equal(stops, 1);
    const isButton = () =>
      page.evaluate(() => document.activeElement?.matches('[role=toolbar] button:not([role=radio])'));
    for (let i = 0; i < 20 && !(await isButton()); i++) await page.keyboard.press('Tab');
    assert.ok(await isButton());
  },

  async 'R opens the panel of runs, and what is typed next is in its filter'(keep) {
    const page = keep(await openCharts('demo'));
    await page.keyboard.press('[');
    await soon(async () => assert.equal(await page.locator('#run-filter').count(), 0));
    assert.equal(await atOnce(page, 'r', 'seed1'), 'seed1');
  },

  async 'Escape in a search field ends the search together with its text'(keep) {
    const page = keep(await openCharts('demo'));
    for (const [id, text] of [
      ['run-filter', 'vit'],
      ['tag-filter', 'loss'],
    ]) {
      const field = page.locator(`#${id}`);
      await field.fill(text);
      await soon(async () => assert.match(await address(page), new RegExp(`=${text}`)));
      // the first one may close the suggestions
      await field.press('Escape');
      if (await field.inputValue()) await field.press('Escape');
      await soon(async () => assert.doesNotMatch(await address(page), new RegExp(`=${text}`)));
      assert.equal(await field.inputValue(), '');
      assert.notEqual(await page.evaluate(() => document.activeElement.id), id);
    }
  },

  async 'Enter in a search field leaves it, and what it finds stays'(keep) {
    const page = keep(await openCharts('demo'));
    for (const [id, text] of [
      ['run-filter', 'vit'],
      ['tag-filter', 'loss'],
    ]) {
      const field = page.locator(`#${id}`);
      await field.fill(text);
      await field.press('Enter');
      await soon(async () => assert.notEqual(await page.evaluate(() => document.activeElement.id), id));
      assert.equal(await field.inputValue(), text);
      await soon(async () => assert.match(await address(page), new RegExp(`=${text}`)));
    }
  },

  async 'keys that an input method needs are left to it'(keep) {
    const page = keep(await openCharts('demo'));
    const field = page.locator('#tag-filter');
    await field.fill('loss');
    await page.locator('#tag-options').waitFor();
    const composing = (key) =>
      field.evaluate(
        (input, name) =>
          input.dispatchEvent(
            new KeyboardEvent('keydown', { key: name, isComposing: true, bubbles: true, cancelable: true }),
          ),
        key,
      );
    for (const key of ['Escape', 'Enter', 'ArrowDown', 'Escape'])
      assert.equal(await composing(key), true, 'nobody prevents what the input method does');
    assert.equal(await field.inputValue(), 'loss');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'tag-filter');
    assert.equal(await page.locator('#tag-options').count(), 1, 'the suggestions stay open');
  },

  async 'a command of the palette has run before the next key'(keep) {
    const page = keep(await openCharts('demo'));
    await page.keyboard.press('[');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Find a tag, run or action' }).fill('filter runs');
    await page.getByRole('option', { name: 'Filter runs', selected: true }).waitFor();
    assert.equal(await atOnce(page, 'Enter', 'seed2'), 'seed2');
    await soon(async () => assert.equal(await page.locator('dialog[open]').count(), 0));
  },

  async 'keys that are pressed while a form is still being loaded do nothing in the page'(keep) {
    const page = keep(await openCharts('demo'));
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const before = await theme();
    let load;
    const held = new Promise((done) => (load = done));
    await page.route('**/assets/MetricPicker-*.js', async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole('radio', { name: 'Metric…' }).click();
    await page.keyboard.press('t');
    await page.keyboard.press('[');
    load();
    await page.getByRole('dialog', { name: 'Use another metric as x' }).waitFor();
    assert.equal(await theme(), before);
    assert.equal(await page.locator('#run-filter').count(), 1);
    // and then they work again
    await page.keyboard.press('Escape');
    await page.keyboard.press('t');
    await soon(async () => assert.notEqual(await theme(), before));
  },

  async 'J goes on from the card before, also where that is far out of sight'(keep) {
    const page = keep(await openCharts('demo', '#timeseries&row=1'));
    await page.mouse.move(2, 2);
    await page.keyboard.press('j');
    await soon(async () => assert.notEqual(await focusedCard(page), ''));
    const first = await focusedCard(page);
    await page.locator('.cards').evaluate((cards) => (cards.scrollTop = cards.scrollHeight));
    await soon(async () => assert.equal(await card(page, first).count(), 0));
    await page.keyboard.press('j');
    await soon(async () => assert.ok(!['', first].includes(await focusedCard(page))));
    await page.keyboard.press('k');
    await soon(async () => assert.equal(await focusedCard(page), first));
  },
};
