// What the browser tests of graphs look at: the table of modules, the card, and the drawing as its SVG export has it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { open, soon } from './harness.mjs';

export const CANVAS = '#graph-canvas';
export async function openGraph(server, hash = '#graphs&v=1', options = {}) {
  const page = await open(server, hash, options);
  await page.waitForSelector(CANVAS);
  await page.waitForSelector('.row[id^=module-]');
  return page;
}
export const row = (page, name) => page.locator(`[role=row][title^=${JSON.stringify(name)}]`).first();
export const labels = (page) =>
  page.locator('[role=row] .label').evaluateAll((all) => all.map((label) => label.textContent?.trim()));
export const card = (page) => page.locator('.body > aside:has(code.whole)');
export const toggle = (page, name) => row(page, name).locator('.caret').click();
export const isOpen = (page, name) =>
  soon(async () => assert.equal(await row(page, name).getAttribute('aria-expanded'), 'true'));
/** Where the viewer looks. */
export const scaleOf = async (page) => Number(await page.locator(CANVAS).getAttribute('data-scale'));
export const placeOf = async (page) => (await page.locator(CANVAS).getAttribute('data-at')).split(' ').map(Number);

/** The drawing as it is exported, which is painted by the same code as the canvas: its closed boxes by label, lines, arrow
 * heads, and all texts. */
export async function drawingOf(page) {
  await page.getByRole('button', { name: /^Export/ }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'Drawing (SVG)' }).click(),
  ]);
  const boxes = new Map();
  const lines = [];
  const texts = [];
  let heads = 0;
  let box = null;
  for (const part of readFileSync(await download.path(), 'utf8').split('\n')) {
    const of = (name) => new RegExp(`${name}="([^"]*)"`).exec(part)?.[1] ?? '';
    if (part.startsWith('<rect'))
      box = { fill: of('fill'), stroke: of('stroke'), isDashed: part.includes('dasharray') };
    else if (part.startsWith('<text')) {
      const text = />([^<]*)</.exec(part)[1];
      texts.push(text);
      if (box) boxes.set(text.replace(/^\+ /, ''), box);
      box = null;
    } else {
      box = null;
      if (/^<path .*fill="none"/.test(part))
        lines.push({ stroke: of('stroke'), width: Number(of('stroke-width')), isDashed: part.includes('dasharray') });
      else if (part.startsWith('<path')) heads++;
    }
  }
  return { boxes, lines, heads, texts };
}
