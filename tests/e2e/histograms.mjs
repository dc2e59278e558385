// Logs with histograms, for the tests of histograms and distributions: shapes that are known, without noise.
import { drawn, open } from './harness.mjs';
import { RunWriter } from './logs.mjs';
import { cardOf, servedLog, START } from './media.mjs';

const bell = (x, mean, deviation) => Math.exp(-(((x - mean) / deviation) ** 2) / 2);

/** Buckets of values that are spread as the sum of some bells: [mean, deviation, share]. */
export function rows(bells, n = 10000, buckets = 30) {
  const low = Math.min(...bells.map(([mean, deviation]) => mean - 4 * deviation));
  const high = Math.max(...bells.map(([mean, deviation]) => mean + 4 * deviation));
  const width = (high - low) / buckets;
  const weights = Array.from({ length: buckets }, (_, i) =>
    bells.reduce((sum, [mean, deviation, share = 1]) => {
      return sum + (share / deviation) * bell(low + (i + 0.5) * width, mean, deviation);
    }, 0),
  );
  const total = weights.reduce((a, b) => a + b, 0);
  return weights.map((w, i) => [low + i * width, low + (i + 1) * width, Math.round((n * w) / total)]);
}
export const nan = () => Array.from({ length: 30 }, () => [NaN, NaN, 5]);

/** Histograms that are odd, each in a way of its own. */
export const ODD = {
  empty: [],
  zero: [[0, 1, 0]],
  nan: nan(),
  'only nan': nan(),
  infinite: [
    [-Infinity, 0, 3],
    [0, 1, 5],
    [1, Infinity, 2],
  ],
  unsorted: [
    [3, 4, 1],
    [0, 2, 1],
    [1, 3.5, 2],
  ],
  'huge counts': [
    [0, 1, 1e308],
    [1, 2, 1e308],
  ],
  'huge edges': [[-1.7e308, 1.7e308, 3]],
  'one value': [[2.5, 2.5, 100]],
  'only negative': [[0, 1, -4]],
  negative: [
    [0, 1, -4],
    [1, 0.5, 3],
  ],
  '<script>alert(1)</script>': rows([[0, 1]]),
};

/** Two runs: weights that drift, gradients that narrow, activations that end in NaN, one step far from the others. */
export function write(logdir, steps = 60) {
  const made = {};
  ['vit-b16', 'vit-b16, lr 3e-3'].forEach((name, r) => {
    const run = new RunWriter(logdir, name, START + r);
    for (let i = 0; i < steps; i++) {
      const t = i / (steps - 1);
      const step = i * 100;
      run.scalars(step, { loss: 1 / (i + 1) }, START + 60 * i);
      run.histograms(
        step,
        {
          'attn/qkv.weight': rows([
            [0.02 * t, 0.03 + 0.12 * t * (1 + r)],
            [0.25 * t, 0.04, 0.3 * t],
          ]),
          'attn/qkv.grad': rows([[0, 4e-4 + 2e-3 * Math.exp(-5 * t)]]),
          'mlp/fc1.out':
            r === 1 && i > 36
              ? nan()
              : rows([
                  [-1.5 - t, 0.8],
                  [1.5 - 2 * t, 1.2 + r * t * 3, 0.6],
                ]),
          'norm/weight': rows([[1 - r * 0.2 * t, 0.05 + r * 0.2 * t]]),
          'norm/outlier': i === 20 ? rows([[0, 5000]]) : rows([[0, 1]]),
        },
        START + 60 * i,
      );
    }
    made[name] = run.flush();
  });
  return made;
}

/** A server of its own over what `fill` writes, when all is read. */
export const made = (fill = write) => servedLog(fill);

export const card = (page, run, tag) => cardOf(page, 'histograms', run, tag);

export const DRAWN = '.figure[data-drawn]';
/** A page of histograms or distributions, when every card in sight is drawn. */
export async function openDrawn(server, hash, options) {
  const page = await open(server, hash, options);
  await page.waitForSelector(DRAWN);
  await drawn(page);
  return page;
}

/** Points at a place of a card's picture: shares of its width and height. */
export async function point(page, figure, x, y) {
  const box = await figure.boundingBox();
  await page.mouse.move(box.x + box.width * x, box.y + box.height * y, {
    steps: 3,
  });
}

/** The colours of a canvas of a card's picture (0: the picture, 1: what is marked): r, g, b, a of every pixel, row by row. */
export async function pixels(figure, which = 0) {
  const { width, height, base64 } = await figure.evaluate((box, at) => {
    const canvas = box.querySelectorAll('canvas')[at];
    // a copy: the page's own canvas is not made to be read
    const copy = document.createElement('canvas');
    copy.width = canvas.width;
    copy.height = canvas.height;
    const ctx = copy.getContext('2d', { willReadFrequently: true });
    ctx.drawImage(canvas, 0, 0);
    const { data } = ctx.getImageData(0, 0, copy.width, copy.height);
    let text = '';
    for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192));
    return { width: copy.width, height: copy.height, base64: btoa(text) };
  }, which);
  return { width, height, data: Buffer.from(base64, 'base64') };
}
