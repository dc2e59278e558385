// The stage of graphs by mouse and fingers: double clicks, drags, the wheel, the minimap, and what lies over a selected box.
import assert from 'node:assert/strict';
import { graphDef, transformer } from './graphs.mjs';
import { CANVAS, card, isOpen, labels, openGraph, placeOf, row, scaleOf } from './graphs_page.mjs';
import { address, open, serve, soon } from './harness.mjs';
import { RunWriter } from './logs.mjs';

const made = (fill) => serve('fresh', fill);
const CLOSED = '#graphs&graphs.open=,';
const CALM = { reducedMotion: 'reduce' };
/** A scope and an operation below it. */
const twoBoxes = () =>
  made((logdir) =>
    new RunWriter(logdir, 'r')
      .graph(
        graphDef([
          { name: 'a/x', op: 'Relu' },
          { name: 'a/y', op: 'Neg', inputs: ['a/x'] },
          { name: 'z', op: 'Add', inputs: ['a/y'] },
        ]),
      )
      .flush(),
  );
async function stageBox(page) {
  const { x, y, width, height } = await page.locator(CANVAS).boundingBox();
  return { left: x, top: y, right: x + width, bottom: y + height };
}
/** Where the upper one of two boxes is on the screen: the graph is fitted into the middle, 36 px to each box. */
async function upperBox(page) {
  await soon(async () => assert.ok((await scaleOf(page)) > 1));
  const { left, top, right, bottom } = await stageBox(page);
  return {
    x: (left + right) / 2,
    y: (top + bottom) / 2 - 36 * (await scaleOf(page)),
  };
}
/** A point of the screen in units of the drawing, and back. */
async function placeOfPoint(page, { x, y }) {
  const [[atX, atY], scale, { left, top }] = [await placeOf(page), await scaleOf(page), await stageBox(page)];
  return { x: atX + (x - left) / scale, y: atY + (y - top) / scale };
}
async function pointOf(page, unit) {
  const [[atX, atY], scale, { left, top }] = [await placeOf(page), await scaleOf(page), await stageBox(page)];
  return {
    x: left + (unit.x - atX) * scale,
    y: top + (unit.y - atY) * scale,
  };
}
/** Is the stage seen there, or does something lie over it? */
async function isCanvasAt(page, unit) {
  const { x, y } = await pointOf(page, unit);
  return page.evaluate(([px, py]) => document.elementFromPoint(px, py)?.id === 'graph-canvas', [x, y]);
}
/** Pans by a drag of the ground. */
async function drag(page, dx, dy = 0) {
  const { left, top } = await stageBox(page);
  const [x, y] = [left + 60, top + 200];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx, y + dy, { steps: 4 });
  await page.mouse.up();
}

export default {
  async 'a double click on the canvas opens what is there, a drag pans, a wheel zooms, a click on nothing lets go'(
    keep,
  ) {
    const page = keep(await openGraph(await twoBoxes(), CLOSED, CALM));
    await soon(async () => assert.deepEqual(await labels(page), ['a', 'z']));
    const box = await page.locator(CANVAS).boundingBox();
    const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    // a graph of two boxes one above the other is fitted into the middle: the upper one is 36 px above it
    const up = 36 * (await scaleOf(page));
    await page.mouse.dblclick(middle.x, middle.y - up);
    await isOpen(page, 'a');
    const before = await scaleOf(page);
    await page.mouse.move(middle.x, middle.y);
    await page.mouse.wheel(0, -300);
    await soon(async () => assert.ok((await scaleOf(page)) > before));
    await row(page, 'z').click();
    await soon(async () => assert.equal(await card(page).count(), 1));
    // the card has taken a part of the stage; the ground is at its lower left, above the buttons
    const stage = await page.locator(CANVAS).boundingBox();
    const ground = { x: stage.x + 60, y: stage.y + 300 };
    const [x, y] = await placeOf(page);
    await page.mouse.move(ground.x, ground.y);
    await page.mouse.down();
    await page.mouse.move(ground.x - 60, ground.y - 40, { steps: 4 });
    await page.mouse.up();
    const scale = await scaleOf(page);
    await soon(async () => {
      const [x2, y2] = await placeOf(page);
      assert.ok(Math.abs(x2 - x - 60 / scale) < 2 && Math.abs(y2 - y - 40 / scale) < 2, `${x2} ${y2} ${x} ${y}`);
    });
    assert.equal(await card(page).count(), 1); // a drag is no click
    await page.mouse.click(ground.x, ground.y);
    await soon(async () => assert.equal(await card(page).count(), 0));
    await row(page, 'z').click();
    await soon(async () => assert.equal(await card(page).count(), 1));
    await page.locator(CANVAS).focus();
    await page.keyboard.press('Escape');
    await soon(async () => assert.equal(await card(page).count(), 0));
  },

  async 'a double click opens a box where the card then lies, and presses nothing on the card'(keep) {
    const page = keep(await openGraph(await twoBoxes(), CLOSED, CALM));
    const at = await upperBox(page);
    const { right } = await stageBox(page);
    await drag(page, right - 60 - at.x);
    await page.mouse.dblclick(right - 60, at.y);
    await isOpen(page, 'a');
    await soon(async () => assert.equal(await card(page).locator('code.whole').innerText(), 'a'));
    assert.ok((await stageBox(page)).right < right - 60); // the card lies where the clicks were
    assert.doesNotMatch(await address(page), /graphs\.(trace|side)=/);
  },

  async 'a box that is selected comes out from under the card, the minimap and the card of a phone'(keep) {
    const server = await twoBoxes();
    const page = keep(await openGraph(server, CLOSED, CALM));
    const box = await upperBox(page);
    const { right, bottom } = await stageBox(page);
    const unit = await placeOfPoint(page, box);
    await soon(async () => assert.equal(await isCanvasAt(page, unit), true));
    await drag(page, right - 60 - box.x); // there the card opens
    await page.mouse.click(right - 60, box.y);
    await soon(async () => assert.equal(await card(page).count(), 1));
    await soon(async () => assert.equal(await isCanvasAt(page, unit), true));
    // where the minimap is when the card is open
    await page.locator(CANVAS).focus();
    await page.keyboard.press('Escape');
    await soon(async () => assert.equal(await card(page).count(), 0));
    const now = await pointOf(page, unit);
    const [x, y] = [right - 320 - 80, bottom - 80];
    await drag(page, x - now.x, y - now.y);
    await page.mouse.click(x, y);
    await soon(async () => assert.equal(await card(page).count(), 1));
    await soon(async () => assert.equal(await isCanvasAt(page, unit), true));

    const phone = keep(
      await open(server, CLOSED, {
        ...CALM,
        viewport: { width: 390, height: 780 },
        hasTouch: true,
        isMobile: true,
      }),
    );
    await phone.waitForSelector(CANVAS);
    await soon(async () => assert.match(await phone.locator('p.notes').innerText(), /operations/));
    const small = await upperBox(phone);
    const there = await placeOfPoint(phone, small);
    await drag(phone, 0, (await stageBox(phone)).bottom - 60 - small.y);
    const low = await pointOf(phone, there);
    await phone.touchscreen.tap(low.x, low.y);
    await soon(async () => assert.equal(await card(phone).count(), 1));
    await soon(async () => assert.match(await card(phone).innerText(), /Contents/));
    await soon(async () => assert.equal(await isCanvasAt(phone, there), true));
  },

  async 'the minimap moves the view, and two fingers zoom'(keep) {
    const page = keep(
      await openGraph(
        await made((logdir) => new RunWriter(logdir, 'r').graph(transformer().graph).flush()),
        '#graphs&v=1',
        { hasTouch: true },
      ),
    );
    const canvas = page.locator(CANVAS);
    const scale = async () => Number(await canvas.getAttribute('data-scale'));
    const at = async () => (await canvas.getAttribute('data-at')).split(' ').map(Number);
    await page.mouse.move(700, 500);
    await page.mouse.wheel(0, -300);
    const [before, from] = [await scale(), await at()];
    const map = await page.locator('.map').boundingBox();
    await page.mouse.click(map.x + map.width / 2, map.y + 6);
    await soon(async () => assert.ok((await at())[1] < from[1] - 50, `${await at()} ${from}`));
    await canvas.evaluate((element) => {
      const box = element.getBoundingClientRect();
      const touch = (type, id, x, y) =>
        element.dispatchEvent(
          new PointerEvent(type, {
            pointerId: id,
            pointerType: 'touch',
            isPrimary: id === 11,
            button: type === 'pointermove' ? -1 : 0,
            buttons: type === 'pointerup' ? 0 : 1,
            clientX: box.left + x,
            clientY: box.top + y,
            bubbles: true,
          }),
        );
      touch('pointerdown', 11, 300, 300);
      touch('pointerdown', 12, 360, 300);
      for (let i = 1; i <= 10; i++) touch('pointermove', 12, 360 + i * 12, 300);
      touch('pointerup', 12, 480, 300);
      touch('pointerup', 11, 300, 300);
    });
    await soon(async () => assert.ok((await scale()) > before * 1.8, `${await scale()} ${before}`));
  },
};
