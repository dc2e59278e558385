// What the tests of images, clips, texts and histograms share: a server over a log of their own, the colour of a picture,
// and what a hostile log holds.
import assert from 'node:assert/strict';
import { serve, until } from './harness.mjs';

export const START = 1_763_000_000;

/** A server of the test's own over what `fill` writes, and the runs that it gives back. */
export async function servedLog(fill) {
  const server = await serve('fresh', fill);
  return { server, runs: server.filled };
}

/** A card of one run and tag. */
export const cardOf = (page, plugin, run, tag) => page.locator(`[data-tag="!${plugin}!${run}!!${tag}"]`).first();

/** The colour in the middle of a picture, read from the page; null: the page is about to show another one. */
export const middle = (picture) =>
  picture.evaluate(async (image) => {
    try {
      await image.decode();
    } catch {
      return null;
    }
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 1;
    const context = canvas.getContext('2d');
    context.drawImage(image, image.naturalWidth >> 1, image.naturalHeight >> 1, 1, 1, 0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  });

/** Texts that would run as a program where they are not shown as text. */
export const SCRIPTS = [
  '<script>window.hit=1</script>',
  '<img src=x onerror=window.hit=1>',
  '"><svg onload=window.hit=1>',
  "javascript:window.hit=1//'",
  '<iframe srcdoc="<script>parent.hit=1</script>">',
  '{{constructor.constructor("window.hit=1")()}}',
  '<a href="javascript:window.hit=1">x</a>',
  '$\\href{javascript:window.hit=1}{x}$ $\\htmlStyle{color:red}{x}$ $\\includegraphics{x}$',
  '</textarea><script>window.hit=1</script>',
  '```\n</code></pre><script>window.hit=1</script>\n```',
];
/** As the name of a folder. */
export const asRun = (text, i) => `${i} ${text.replaceAll('/', '⁄')}`;

/** Walks through a page: everything in sight, full size, the menu of a card. A dialog of the browser fails the test. */
export async function wander(page) {
  page.on('dialog', (dialog) => page.problems.push(`a dialog: ${dialog.message()}`));
  await page.locator('.slot .card').first().waitFor();
  for (let at = 0; at < 4; at++) {
    await page.mouse.move(900, 500);
    await page.mouse.wheel(0, 900);
    await page.keyboard.press('j');
  }
  await until('full size', async () => {
    if ((await page.locator('dialog[open]').count()) > 0) return true;
    // the card under the pointer may have gone with the wheel
    await page.mouse.move(900 + Math.round(20 * Math.random()), 480);
    await page.keyboard.press('f');
    return false;
  });
  await page.keyboard.press('Escape');
  await until('closed', async () => (await page.locator('dialog[open]').count()) === 0);
}

/** Nothing of the log has become a part of the page that does something. */
export async function assertHarmless(page, what) {
  assert.equal(await page.evaluate(() => window.hit), undefined, what);
  const odd = await page.evaluate(() =>
    [...document.querySelectorAll('#app *')]
      .filter(
        (node) =>
          /^(SCRIPT|IFRAME|FORM|OBJECT|EMBED)$/i.test(node.tagName) ||
          [...node.attributes].some((a) => /^on/.test(a.name) || /^\s*javascript:/i.test(a.value)),
      )
      .map((node) => node.outerHTML.slice(0, 200)),
  );
  assert.deepEqual(odd, [], what);
}
