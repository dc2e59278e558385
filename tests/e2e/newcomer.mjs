// What the tests of the first page as a newcomer finds it share: a log of seeds, pages over logs of their own, exported charts.
import { card, openCharts, serve } from './harness.mjs';
import { random, RunWriter } from './logs.mjs';

export const DAY = 86400;
export const plot = (page, tag) => card(page, tag).locator('.plot');
export const ticksOf = (svg) =>
  [...svg.matchAll(/text-anchor="end">([^<]+)</g)].map(([, text]) =>
    Number(text.replace('−', '-').replace(/[^\d.e-]/g, '')),
  );
export const legendOf = (svg) => [...svg.matchAll(/<text x="70"[^>]*>([^<]+)</g)].map(([, text]) => text);

/** Four settings with three seeds each, with folders for training and validation. */
export function writeSeeds(logdir) {
  let n = 0;
  for (const opt of ['adam', 'sgd'])
    for (const learning_rate of [0.001, 0.01])
      for (const seed of [1, 2, 3])
        for (const role of ['train', 'validation']) {
          const next = random(++n);
          const start = Date.now() / 1000 - DAY;
          const run = new RunWriter(logdir, `${opt}-lr${learning_rate}-seed${seed}/${role}`, start);
          run.hparams({ opt, learning_rate, seed });
          const level = role === 'train' ? 1 : 4;
          for (let step = 0; step < 100; step++)
            run.scalars(step, {
              loss: level + next() * 0.1,
              accuracy: 0.5 + learning_rate,
            });
          run.flush();
        }
}

/** Charts of a log of their own, which is there before its server. */
export const fresh = async (write, hash = '', options = {}) => openCharts(await serve('fresh', write), hash, options);
