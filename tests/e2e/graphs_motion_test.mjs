// Boxes that move when a scope opens or closes. What each frame paints is recorded where the page calls the canvas.
import assert from 'node:assert/strict';
import { everything } from './graphs.mjs';
import { CANVAS, openGraph } from './graphs_page.mjs';
import { sharedServer, soon } from './harness.mjs';
import { RunWriter } from './logs.mjs';
import { clockOfFrames, LEAST_PLACES } from './motion.mjs';

const server = sharedServer((logdir) => void new RunWriter(logdir, 'r').graph(everything()).flush());
const SHAPE = '1000 × 1000'; // a label of an edge: edges are painted when nothing moves any more

/** In the page, before its scripts: `painted` has one entry a painting of the stage, { text: [x, y] } in pixels of the canvas. */
function recordFrames() {
  globalThis.painted = [];
  const { fillRect, fillText } = CanvasRenderingContext2D.prototype;
  const isStage = (c) => c.canvas.id === 'graph-canvas';
  CanvasRenderingContext2D.prototype.fillRect = function (x, y, w, h) {
    if (isStage(this) && w === this.canvas.width && h === this.canvas.height) globalThis.painted.push({});
    return fillRect.call(this, x, y, w, h);
  };
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    if (isStage(this)) {
      const p = this.getTransform().transformPoint({ x, y });
      globalThis.painted.at(-1)[text] = [p.x, p.y];
    }
    return fillText.call(this, text, x, y);
  };
}

const paintings = (page) => page.evaluate(() => globalThis.painted);
/** The last painting, once it has this text and nothing moves. */
const atRest = (page, text) =>
  soon(async () => {
    const last = (await paintings(page)).at(-1);
    assert.ok(last?.[text] && last[SHAPE], `no ${text} at rest in ${Object.keys(last ?? {})}`);
    return last;
  });
async function opened(options = {}) {
  const page = await openGraph(await server(), '#graphs&graphs.open=,', {
    before: async (p) => {
      await p.addInitScript(clockOfFrames);
      await p.addInitScript(recordFrames);
    },
    ...options,
  });
  await atRest(page, '+ enc');
  return page;
}
/** Opens or closes the scope, and gives all places where a text was painted, from where it was to where it is, each once. */
async function toggled(page, [left, top], [text, after]) {
  const box = await page.locator(CANVAS).boundingBox();
  const before = (await paintings(page)).length - 1;
  await page.mouse.dblclick(box.x + left, box.y + top);
  const end = await atRest(page, after);
  const way = (await paintings(page)).slice(before).map((painting) => painting[text]);
  assert.ok(
    way.every((place) => place !== undefined),
    `${text} was not painted in every frame`,
  );
  return {
    end,
    way: way.filter(([x, y], i) => i === 0 || x !== way[i - 1][0] || y !== way[i - 1][1]),
  };
}
/** Every step goes on from the one before towards the end, in both directions. */
function assertGoesOn(way) {
  for (const axis of [0, 1]) {
    const sign = Math.sign(way.at(-1)[axis] - way[0][axis]);
    for (let i = 1; i < way.length; i++)
      assert.ok((way[i][axis] - way[i - 1][axis]) * sign >= -0.01, `step ${i} of ${JSON.stringify(way)}`);
  }
}

export default {
  async 'boxes are seen on their way when a scope opens and closes, and what was clicked stays where it is'(keep) {
    const page = keep(await opened());
    const start = (await paintings(page)).at(-1);
    const open = await toggled(page, start['+ enc'], ['join', 'big']);
    assert.ok(open.way.at(-1)[1] > open.way[0][1] + 20, JSON.stringify(open.way)); // it made room
    assert.ok(open.way.length >= LEAST_PLACES, `${open.way.length} places: ${JSON.stringify(open.way)}`);
    assertGoesOn(open.way);
    const close = await toggled(page, open.end.enc, ['join', '+ enc']);
    assert.ok(close.way.at(-1)[1] < close.way[0][1] - 20, JSON.stringify(close.way));
    assert.ok(close.way.length >= LEAST_PLACES, `${close.way.length} places: ${JSON.stringify(close.way)}`);
    assertGoesOn(close.way);
    for (const axis of [0, 1]) assert.ok(Math.abs(close.end['+ enc'][axis] - start['+ enc'][axis]) < 1);
  },

  async 'nothing moves for people who want less motion: boxes are where they were, then at their new places'(keep) {
    const page = keep(await opened({ reducedMotion: 'reduce' }));
    const start = (await paintings(page)).at(-1);
    const open = await toggled(page, start['+ enc'], ['join', 'big']);
    assert.equal(open.way.length, 2, JSON.stringify(open.way));
    const close = await toggled(page, open.end.enc, ['join', '+ enc']);
    assert.equal(close.way.length, 2, JSON.stringify(close.way));
  },
};
