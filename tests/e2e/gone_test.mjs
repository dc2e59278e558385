// Nothing of the page reads what is gone, on any tab: a tab that was left, a run that was deleted, another server process.
// Svelte warns of state that is read after its owner was destroyed (derived_inert), and the harness fails on warnings.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { everything } from './graphs.mjs';
import { rows } from './histograms.mjs';
import { RunWriter, tone, wav } from './logs.mjs';
import { open, serve, soon } from './harness.mjs';
import { START } from './media.mjs';
import { plain } from './pictures.mjs';
import { kineto, writeTrace } from './profiles.mjs';

const TABS = ['timeseries', 'images', 'histograms', 'distributions', 'graphs', 'profile', 'text', 'audio'];
const WHOLE = ['graphs', 'profile']; // they show one run, not a card for each

/** Two runs with something for every tab. */
function writeAll(logdir, names = ['a', 'b']) {
  names.forEach((name, r) => {
    const run = new RunWriter(logdir, name, START + r);
    run.graph(everything());
    for (let step = 0; step < 5; step++)
      run
        .scalars(step, { 'val/loss': r + 1 / (step + 1), 'val/acc': step })
        .texts(step, { note: `**${name}** at ${step}` })
        .clips(step, { sound: [wav(0.2, tone(440))] })
        .images(step, { picture: [plain([100 * r, 50 * step, 0], 32, 24)] })
        .histograms(step, { weights: rows([[step / 10, 1]]) });
    run.flush();
    writeTrace(logdir, name, 'host_1', kineto());
  });
}
/** Looks at a tab as people do: points at a card, opens it in full size, closes it. */
async function lookAt(page, tab) {
  await page.evaluate((to) => (location.hash = to), `#${tab}`);
  await soon(async () => assert.ok((await page.locator('main').innerText()).length > 0));
  for (const at of [500, 620, 900]) await page.mouse.move(at, 420);
  await page.keyboard.press('f');
  await page.mouse.move(700, 400);
  await page.keyboard.press('Escape');
}

export default {
  async 'tabs that are left, back and forth, leave nothing that asks for them'(keep) {
    const server = await serve('fresh', (logdir) => writeAll(logdir));
    const page = keep(await open(server));
    for (const tab of [...TABS, ...TABS.toReversed()]) await lookAt(page, tab);
  },

  async 'a run that is deleted leaves every tab, and nothing that asks for it'(keep) {
    const server = await serve('fresh', (logdir) => writeAll(logdir));
    const pages = [];
    for (const tab of TABS) {
      // what is asked for in the moment of the deletion is answered 404, which the browser logs as an error; warnings fail
      const page = keep(await open(server, `#${tab}`, { allowErrors: true }));
      await page.locator('main').waitFor();
      await lookAt(page, tab);
      pages.push(page);
    }
    const ofB = (page) => page.locator('[data-tag*="!b!"], [data-run="b"]').count();
    for (const [i, page] of pages.entries())
      if (!WHOLE.includes(TABS[i])) await soon(async () => assert.ok((await ofB(page)) > 0, TABS[i]));
    rmSync(join(server.logdir, 'b'), { recursive: true });
    for (const page of pages) {
      await soon(async () => assert.equal(await ofB(page), 0), 30000);
      await page.mouse.move(650, 430);
    }
  },

  async 'a server that is started again leaves nothing of before on any tab'(keep) {
    const server = await serve('fresh', (logdir) => writeAll(logdir));
    const pages = [];
    for (const tab of TABS) {
      const page = keep(await open(server, `#${tab}`, { allowErrors: true }));
      await page.locator('main').waitFor();
      await lookAt(page, tab);
      pages.push(page);
    }
    await server.stop();
    for (const name of ['a', 'b']) rmSync(join(server.logdir, name), { recursive: true });
    writeAll(server.logdir, ['c', 'd']);
    await server.start();
    for (const page of pages) {
      await soon(async () => assert.match(await page.locator('body').innerText(), /\bc\b/), 30000);
      await soon(async () =>
        assert.equal(
          await page.locator('[data-tag*="!a!"], [data-tag*="!b!"], [data-run="a"], [data-run="b"]').count(),
          0,
        ),
      );
      await page.mouse.move(650, 430);
    }
  },
};
