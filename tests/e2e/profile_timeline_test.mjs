// Profiles: how the timeline is moved and zoomed by mouse, fingers and keys, and where the focus is meanwhile.
import assert from 'node:assert/strict';
import { address, axe, open, soon } from './harness.mjs';
import {
  CANVAS,
  clickTrack,
  details,
  made,
  openProfile,
  openTimeline,
  painted,
  range,
  row,
  windowOf,
} from './profile_page.mjs';
import { kineto, writeTrace } from './profiles.mjs';

const whole = 39_900_000_000; // picoseconds of four steps
const spanOf = async (page) => {
  const text = await windowOf(page);
  if (!text) return [0, whole];
  return text.split('~').map(Number);
};
const wide = async (page) => (([from, to]) => to - from)(await spanOf(page));
/** What has the focus: the tracks, or something else. */
const isInTracks = (page) => page.evaluate(() => document.activeElement.classList.contains('scroller'));

export default {
  async 'the window is drawn and moved on the minimap, by drag and by keys'(keep) {
    const page = keep(await openTimeline(await made()));
    const map = page.getByRole('slider', { name: 'Part of the capture in sight' });
    const box = await map.boundingBox();
    await page.mouse.move(box.x + box.width * 0.25, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 12, { steps: 4 });
    await page.mouse.up();
    await soon(async () => {
      const [from, to] = await spanOf(page);
      assert.ok(Math.abs(from / whole - 0.25) < 0.01 && Math.abs(to / whole - 0.5) < 0.01, `${from} ${to}`);
    });
    await soon(async () => assert.match(await map.getAttribute('aria-valuetext'), /^\d.* to \d/));
    await page.mouse.move(box.x + box.width * 0.4, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 10, { steps: 4 });
    await page.mouse.up();
    await soon(async () => assert.ok(Math.abs((await spanOf(page))[0] / whole - 0.45) < 0.01));
    await map.focus();
    await page.keyboard.press('ArrowLeft');
    await soon(async () => assert.ok(Math.abs((await spanOf(page))[0] / whole - 0.3875) < 0.01));
    await page.keyboard.press('Home');
    await soon(async () => assert.equal(await windowOf(page), ''));
  },

  async 'the wheel zooms with Ctrl and moves with Shift, on the ruler it zooms alone, and Shift and a drag select a range'(
    keep,
  ) {
    const page = keep(await openTimeline(await made()));
    const canvas = await page.locator(CANVAS).boundingBox();
    await page.mouse.move(canvas.x + canvas.width / 2, canvas.y + 60);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -300);
    await page.keyboard.up('Control');
    await soon(async () => assert.ok((await wide(page)) < 0.6 * whole));
    const [from] = await spanOf(page);
    await page.keyboard.down('Shift');
    await page.mouse.wheel(0, 100);
    await page.keyboard.up('Shift');
    await soon(async () => assert.ok((await spanOf(page))[0] > from));
    const ruler = await page.locator('.ruler[title]').boundingBox();
    const before = await wide(page);
    await page.mouse.move(ruler.x + 300, ruler.y + 10);
    await page.mouse.wheel(0, -200);
    await soon(async () => assert.ok((await wide(page)) < 0.8 * before));
    await page.mouse.move(canvas.x + 200, canvas.y + 60);
    await page.keyboard.down('Shift');
    await page.mouse.down();
    await page.mouse.move(canvas.x + 500, canvas.y + 70, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await range(page).getByRole('row').nth(1).waitFor();
  },

  async 'two fingers zoom, and what is below them stays there; lifting them selects nothing'(keep) {
    const page = keep(await openTimeline(await made(), undefined, { hasTouch: true }));
    await page.locator(CANVAS).evaluate((element) => {
      const box = element.getBoundingClientRect();
      const touch = (type, id, x) =>
        element.dispatchEvent(
          new PointerEvent(type, {
            pointerId: id,
            pointerType: 'touch',
            isPrimary: id === 11,
            button: type === 'pointermove' ? -1 : 0,
            buttons: type === 'pointerup' ? 0 : 1,
            clientX: box.left + x * box.width,
            clientY: box.top + 75,
            bubbles: true,
          }),
        );
      touch('pointerdown', 11, 0.25);
      touch('pointerdown', 12, 0.35);
      for (let i = 1; i <= 10; i++) touch('pointermove', 12, 0.35 + i * 0.01);
      touch('pointerup', 12, 0.45);
      touch('pointerup', 11, 0.25);
    });
    // twice as near, around the finger that did not move
    await soon(async () => {
      const [from, to] = await spanOf(page);
      assert.ok(Math.abs((to - from) / whole - 0.5) < 0.02, `${from} ${to}`);
      assert.ok(Math.abs((from + 0.25 * (to - from)) / whole - 0.25) < 0.01, `${from} ${to}`);
    });
    assert.doesNotMatch(await address(page), /profile\.slice/);
  },

  async 'Escape closes the slice and then the range wherever the focus is, but first the menu that is open'(keep) {
    const page = keep(await openTimeline(await made()));
    await page.keyboard.press('m');
    await range(page).waitFor();
    await clickTrack(page, 'thread 4242', 0.1);
    await details(page).waitFor();
    await address(page);
    await page.reload(); // nothing has the focus then
    await details(page).waitFor();
    await page.getByRole('button', { name: 'Flows' }).click();
    await page.getByRole('menuitemcheckbox', { name: 'none' }).waitFor();
    await page.keyboard.press('Escape');
    await soon(async () => assert.equal(await page.getByRole('menuitemcheckbox', { name: 'none' }).count(), 0));
    assert.equal(await details(page).count(), 1);
    await page.keyboard.press('Escape');
    await soon(async () => assert.equal(await details(page).count(), 0));
    assert.equal(await range(page).count(), 1);
    await page.keyboard.press('Escape');
    await soon(async () => assert.equal(await range(page).count(), 0));
    await soon(async () => assert.doesNotMatch(await address(page), /profile\.(slice|range)/));
  },

  async 'the focus goes back to the tracks when the details that had it are closed'(keep) {
    const page = keep(await openTimeline(await made()));
    await clickTrack(page, 'thread 4242', 0.1);
    await details(page).getByRole('button', { name: 'Close' }).click();
    await soon(async () => assert.ok(await isInTracks(page)));
    await page.keyboard.press('m');
    await range(page).getByRole('button', { name: 'Close' }).click();
    await soon(async () => assert.ok(await isInTracks(page)));
    await page.keyboard.press('ArrowDown');
    await soon(async () => assert.match(await details(page).innerText(), /ProfilerStep#100/));
  },

  async 'a slice is fitted by its button, its name is copied, and P pins its track'(keep) {
    const page = keep(
      await openTimeline(await made(), undefined, { permissions: ['clipboard-read', 'clipboard-write'] }),
    );
    await clickTrack(page, 'thread 4242', 0.1);
    await details(page).getByRole('button', { name: 'Copy the name' }).click();
    await soon(async () => assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'ProfilerStep#100'));
    await details(page).getByRole('button', { name: 'Zoom to the selection' }).click();
    // 9.9 ms and a fifth of it at both ends
    await soon(async () => assert.ok(Math.abs((await wide(page)) / 9.9e9 - 1.4) < 0.01, `${await wide(page)}`));
    await page.locator('.scroller').focus();
    await page.keyboard.press('p');
    await soon(async () => assert.match(await page.locator('.pins').innerText(), /thread 4242/));
    await page.keyboard.press('p');
    await soon(async () => assert.equal(await page.locator('.pins').count(), 0));
    assert.equal(await row(page, 'thread 4242').count(), 1);
  },

  async 'a name in a table leads to the timeline, which has the focus then'(keep) {
    const page = keep(await openProfile(await made(), '#profile&v=1&profile.page=operators'));
    await page.getByRole('button', { name: 'aten::linear', exact: true }).press('Enter');
    await painted(page);
    await soon(async () => assert.ok(await isInTracks(page)));
    await page.keyboard.press('ArrowDown');
    await soon(async () => assert.match(await details(page).innerText(), /ProfilerStep#100/));
  },

  async 'advice leads to all slices that it was concluded from, of whatever names, one after another'(keep) {
    const trace = kineto();
    // each operator takes most of the time around its kernel, which is short
    for (const one of trace.traceEvents) {
      if (one.cat === 'kernel') one.dur = 10;
      if (one.name === 'aten::linear') one.dur = 950;
    }
    const page = keep(await openProfile(await made((logdir) => writeTrace(logdir, 'vit', 'host_1', trace))));
    await page.getByRole('button', { name: /20 in the timeline/ }).click();
    await soon(async () => assert.match(await details(page).innerText(), /^gemm_128x128/));
    assert.match(await address(page), /profile\.advice=launch/);
    const bar = page.getByRole('toolbar').first();
    await soon(async () => assert.match(await bar.innerText(), /of 20/));
    await page.getByRole('button', { name: 'Next slice found' }).click();
    await soon(async () => assert.match(await bar.innerText(), /1 of 20/));
    await page.getByRole('button', { name: 'Previous slice found' }).click();
    await soon(async () => assert.match(await bar.innerText(), /20 of 20/));
    await page.reload();
    await soon(async () => assert.match(await bar.innerText(), /of 20/));
    await page.getByRole('button', { name: 'Leave the slices of this advice' }).click();
    await soon(async () => assert.doesNotMatch(await bar.innerText(), /of 20/));
    assert.doesNotMatch(await address(page), /profile\.advice/);
  },

  async 'on a phone the captures lie over the page, and go when one is chosen or the page beside them is touched'(
    keep,
  ) {
    const server = await made((logdir) => {
      for (const run of ['a', 'b']) writeTrace(logdir, run, 'host_1', kineto());
    });
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const page = keep(await open(server, '#profile&v=1', phone));
    const options = page.getByRole('listbox', { name: 'Captures' }).getByRole('option');
    const show = async () => {
      await page.getByRole('button', { name: 'More' }).last().tap();
      await page.getByRole('radio', { name: /^Captures/ }).tap();
      await soon(async () => assert.equal(await options.count(), 2));
    };
    await page.locator('.verdict').waitFor();
    await show();
    await page.touchscreen.tap(370, 600);
    await soon(async () => assert.equal(await options.count(), 0));
    await show();
    await options.last().tap();
    await soon(async () => assert.equal(await options.count(), 0));
    await soon(async () => assert.match(await address(page), /profile\.capture=/));
    await page.locator('.verdict').waitFor();
  },

  async 'the details of a kernel have its name as people say it, and the whole one'(keep) {
    const whole = `void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >(${'int, '.repeat(200)}int)`;
    const trace = kineto();
    for (const one of trace.traceEvents) if (one.name === 'gemm_128x128_nn') one.name = whole;
    const page = keep(await openTimeline(await made((logdir) => writeTrace(logdir, 'vit', 'host_1', trace))));
    await clickTrack(page, 'stream 7', 0.07);
    const head = details(page).locator('header');
    await soon(async () =>
      assert.match(await head.innerText(), /^vectorized_elementwise_kernel<4, FillFunctor<float> >/),
    );
    await soon(async () => assert.equal(await details(page).locator('code').innerText(), whole));
    await axe(page, 'details', '.drawer');
  },

  async 'marks of the ruler are never cut, and are seen within the selected range'(keep) {
    const page = keep(
      await openTimeline(
        await made(),
        // the last mark, 35 ms, is 6 pixels before the end
        '#profile&v=1&profile.page=timeline&profile.window=0~35200000000&profile.range=0~39900000000',
      ),
    );
    const ruler = page.locator('.ruler[title]');
    await soon(async () => assert.match(await ruler.innerText(), /30\s?ms/));
    const { right } = await ruler.evaluate((one) => one.getBoundingClientRect().toJSON());
    const marks = await ruler.locator('span').evaluateAll((all) =>
      all.map((one) => {
        const { left, top, right, bottom } = one.getBoundingClientRect();
        return { right, isSeen: document.elementFromPoint((left + right) / 2, (top + bottom) / 2) === one };
      }),
    );
    assert.ok(marks.length > 4);
    assert.ok(
      marks.every((one) => one.right <= right && one.isSeen),
      JSON.stringify(marks),
    );
  },

  async 'the tooltip goes when keys move away what the pointer was over'(keep) {
    const page = keep(await openTimeline(await made()));
    const at = await row(page, 'thread 4242').boundingBox();
    const canvas = await page.locator(CANVAS).boundingBox();
    const tip = page.locator('.tip');
    await page.mouse.move(canvas.x + canvas.width * 0.24, at.y + 11);
    await soon(async () => assert.match(await tip.innerText(), /ProfilerStep#100/));
    await page.keyboard.press('d');
    await soon(async () => assert.equal(await tip.count(), 0));
  },

  async 'how busy tracks and captures are is told with one decimal each'(keep) {
    const page = keep(await openTimeline(await made()));
    const shares = page.locator('.names .row .n').filter({ hasText: '%' });
    await soon(async () => assert.ok((await shares.count()) >= 4));
    for (const text of await shares.allInnerTexts()) assert.match(text, /^(<0\.1|\d+\.\d)\s%$/);
    await page.getByRole('radio', { name: /^Captures/ }).click();
    await soon(async () => assert.match(await page.getByRole('option').innerText(), /\d\.\d\s%$/));
  },

  async 'a motion that is on its way ends with its capture'(keep) {
    const server = await made((logdir) => {
      for (const run of ['a', 'b']) writeTrace(logdir, run, 'host_1', kineto());
    });
    const page = keep(await openTimeline(server));
    await page.getByRole('radio', { name: 'Captures 2' }).click();
    const other = page.getByRole('option', { selected: false });
    await soon(async () => assert.equal(await other.count(), 1));
    await other.evaluate((one) => {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'w', bubbles: true }));
      one.click();
    });
    await soon(async () => assert.match(await address(page), /profile\.capture=/));
    await painted(page);
    await page.evaluate(() => new Promise((done) => setTimeout(done, 300))); // a motion takes 120 ms
    assert.equal(await windowOf(page), '');
  },
};
