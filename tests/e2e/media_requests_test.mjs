// What images, clips, texts and histograms ask the server for, and in which order: what is in sight first, nothing that is not
// in sight any more, nothing that did not change; and what cards say until the answer is there.
import assert from 'node:assert/strict';
import { open, soon } from './harness.mjs';
import { rows } from './histograms.mjs';
import { RunWriter, tone, wav } from './logs.mjs';
import { servedLog, START } from './media.mjs';
import { plain } from './pictures.mjs';

const STEPS = [0, 100, 200, 300];
/** Three runs with four steps of everything. */
function write(logdir) {
  return ['a', 'b', 'c'].map((name, r) => {
    const run = new RunWriter(logdir, name, START + r);
    for (const step of STEPS)
      run
        .scalars(step, { loss: 1 / (step + 1) })
        .images(step, {
          picture: plain([60 * r, step % 256, 7], 32, 32),
        })
        .clips(step, { clip: [wav(0.2, tone(220 + step))] })
        .texts(step, { text: `Text of step ${step}.` })
        .histograms(step, { histogram: rows([[step, 10]]) });
    return run.flush();
  });
}

/** Requests wait here until they are let go. */
function gate() {
  let letGo = () => {};
  const held = new Promise((done) => (letGo = done));
  const wait = async (route) => {
    await held;
    await route.continue().catch(() => {}); // the page may have cancelled it
  };
  return { letGo, wait };
}
const pathOf = (request) => new URL(request.url()).pathname.replace(/.*\/api\/v1\//, '');

/** Opens the images with the list of the third run held back; the order in which pictures are asked for. */
async function orderOf(keep, tab, isBytes, shown) {
  const { server } = await servedLog(write, 'images');
  const { runs } = await (await fetch(`${server.url}api/v1/runs`)).json();
  const last = runs.find(({ name }) => name === 'c').id;
  const { letGo, wait } = gate();
  const asked = [];
  const page = keep(
    await open(server, `#${tab}&v=1`, {
      before: async (p) => {
        p.on('request', (request) => isBytes(pathOf(request)) && asked.push(request.url()));
        await p.route(`**/api/v1/${tab}`, (route) =>
          route.request().postDataJSON().series[0].run === last ? wait(route) : route.continue(),
        );
      },
    }),
  );
  await soon(async () => assert.equal(await page.locator(shown).count(), 2));
  letGo();
  await soon(async () => assert.equal(await page.locator(shown).count(), 3));
  // and one neighbour of each: the newest has nothing on its right
  await soon(async () => assert.equal(new Set(asked).size, 3 + 3));
  return { page, asked: [...new Set(asked)] };
}

export default {
  async 'pictures beside those in sight are asked for when all that is in sight is there'(keep) {
    const { page, asked } = await orderOf(keep, 'images', (path) => path === 'blob', '.card .stage img');
    const inSight = await page
      .locator('.card .stage img')
      .evaluateAll((images) => images.map((image) => image.src).sort());
    assert.deepEqual(asked.slice(0, 3).sort(), inSight);
  },

  async 'pictures of clips beside those in sight are asked for when all that is in sight is there'(keep) {
    const { asked } = await orderOf(keep, 'audio', (path) => path === 'audio/picture', 'canvas[data-drawn]');
    const stepsOf = (urls) => urls.map((url) => new URL(url).searchParams.get('step')).sort();
    assert.deepEqual(stepsOf(asked.slice(0, 3)), ['300', '300', '300']);
    assert.deepEqual(stepsOf(asked.slice(3)), ['200', '200', '200']);
  },

  async 'cards that are scrolled past are not asked for any more: lists and pictures are cancelled'(keep) {
    const TAGS = 240;
    const { server } = await servedLog(
      (logdir) => {
        const run = new RunWriter(logdir, 'run', START);
        const all = Array.from({ length: TAGS }, (_, i) => [`all/${String(i).padStart(3, '0')}`, plain([i, 1, 1])]);
        run.images(1, Object.fromEntries(all)).flush();
      },
      'images',
      TAGS,
    );
    const lists = gate();
    const pictures = gate();
    const open_ = new Map(); // tag -> what is under way, by kind
    const tagOf = (request) =>
      pathOf(request) === 'blob'
        ? new URL(request.url()).searchParams.get('tag')
        : (request.postDataJSON()?.series?.[0]?.tag ?? '');
    const isOurs = (request) => ['blob', 'images'].includes(pathOf(request));
    const over = (request) => isOurs(request) && open_.delete(`${pathOf(request)} ${tagOf(request)}`);
    const asked = [];
    const page = keep(
      await open(server, '#images&v=1', {
        allowErrors: true,
        before: async (p) => {
          p.on('request', (request) => {
            if (!isOurs(request)) return;
            open_.set(`${pathOf(request)} ${tagOf(request)}`, tagOf(request));
            asked.push(`${pathOf(request)} ${tagOf(request)}`);
          });
          p.on('requestfailed', over);
          p.on('requestfinished', over);
          await p.route('**/api/v1/images', lists.wait);
          await p.route('**/api/v1/blob?*', pictures.wait);
        },
      }),
    );
    const there = () => page.locator('.slot .card').evaluateAll((cards) => cards.map((card) => card.dataset.tag));
    const isThere = async (tag) => (await there()).includes(`!images!run!!${tag}`);
    const underWay = async (kind) => {
      const tags = [...open_].filter(([key]) => key.startsWith(kind)).map(([, tag]) => tag);
      const gone = [];
      for (const tag of tags) if (!(await isThere(tag))) gone.push(tag);
      return { tags, gone };
    };
    const scroller = page.locator('.cards');
    const scroll = (to) =>
      scroller.evaluate(
        (box, end) =>
          new Promise((done) => {
            let at = 0;
            const step = () => {
              box.scrollTop += (end === 'down' ? 1 : -1) * box.clientHeight;
              if (at++ < 80) requestAnimationFrame(step);
              else done();
            };
            step();
          }),
        to,
      );
    await soon(async () => assert.ok((await underWay('images')).tags.length > 0));
    await scroll('down');
    await soon(async () => assert.equal(await isThere(`all/${TAGS - 1}`), true));
    await soon(async () => {
      const { tags, gone } = await underWay('images');
      assert.ok(tags.length > 0);
      assert.deepEqual(gone, []);
    });
    lists.letGo();
    // pictures of the cards at the end only, and those of cards that go meanwhile are cancelled
    await soon(async () => assert.ok((await underWay('blob')).tags.length > 0));
    for (const key of asked.filter((one) => one.startsWith('blob ')))
      assert.ok(Number(key.slice(-3)) > TAGS / 2, `${key} is asked for`);
    await scroll('up');
    await soon(async () => assert.equal(await isThere('all/000'), true));
    await soon(async () => assert.deepEqual((await underWay('blob')).gone, []));
    pictures.letGo();
    await soon(async () =>
      assert.equal(await page.locator('.slot [data-tag="!images!run!!all/000"] .stage img').count(), 1),
    );
  },

  async 'a card says no number before it is known: time series and the five kinds of media'(keep) {
    const { server } = await servedLog(write, 'images');
    const { letGo, wait } = gate();
    const page = keep(
      await open(server, '#timeseries&v=1', {
        before: (p) =>
          p.route(/\/api\/v1\/(scalars|images|audio|audio\/picture|text|histograms\/grids|blob)(\?|$)/, wait),
      }),
    );
    const footers = async (n) => {
      await soon(async () => assert.equal(await page.locator('.slot .card').count(), n));
      return page.locator('.slot .card footer').allInnerTexts();
    };
    const open_ = async (name) => {
      await page.evaluate((hash) => (location.hash = hash), `#${name.toLowerCase().replace(' ', '')}&v=1`);
      await page.locator(`nav .tab[aria-current]`, { hasText: new RegExp(`^${name}`) }).waitFor();
    };
    // one chart, three pictures and three histograms: the chart knows its runs, a histogram its run
    for (const text of await footers(7)) assert.match(text.trim(), /^(3 runs|[abc]|)$/);
    for (const [tab, cards] of [
      ['Images', 3],
      ['Audio', 3],
      ['Text', 3],
      ['Histograms', 3],
      ['Distributions', 1],
    ]) {
      await open_(tab);
      for (const text of await footers(cards)) assert.match(text.trim(), /^(3 runs|[abc]|)$/, tab);
    }
    letGo();
    await soon(async () => assert.match((await footers(1))[0], /3 runs\s+· 4 steps/));
    await open_('Time series');
    await soon(async () => assert.match((await footers(7)).join('\n'), /3 runs\s+·\s+12\s+of 12 points/));
  },

  async 'a new picture asks for the list of its card and for itself; other cards and tabs ask nothing'(keep) {
    const { server, runs } = await servedLog(write, 'images');
    const page = keep(await open(server, '#images&v=1'));
    await soon(async () => assert.equal(await page.locator('.card .stage img').count(), 3));
    const sources = () => page.locator('.card .stage img').evaluateAll((all) => all.map((image) => image.src));
    const before = await sources();
    const asked = [];
    page.on('request', (request) => pathOf(request) === 'images' && asked.push(request.postDataJSON().series));
    runs[0].images(400, { picture: plain([1, 2, 3], 32, 32) }).flush();
    await soon(async () => assert.equal((await sources()).filter((src) => !before.includes(src)).length, 1));
    assert.equal(new Set(asked.flat().map(({ run }) => run)).size, 1);
    assert.ok(asked.flat().every(({ n }) => n === STEPS.length)); // what is there already is not sent again
  },
};
