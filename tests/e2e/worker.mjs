// A process of run.mjs: is told names of tests, one at a time, runs each and sends back how it went.
import { end, endTest, measures, opened, shot } from './harness.mjs';
import { allTests } from './tests.mjs';

const LIMIT_MS = 300_000;
const tests = new Map((await allTests()).map((test) => [test.name, test.run]));

// A promise that a test no longer waited for when it failed: its reason belongs to that test, the others go on.
let stray = null;
process.on('unhandledRejection', (reason) => (stray ??= reason));

async function runTest(name) {
  const pages = [];
  const keep = (page) => (pages.push(page), opened.add(page), page);
  const started = Date.now();
  stray = null;
  let failure = '';
  let isLate = false;
  let timer;
  try {
    const late = new Promise(
      (_, no) =>
        (timer = setTimeout(() => {
          isLate = true;
          no(new Error('took too long'));
        }, LIMIT_MS)),
    );
    await Promise.race([tests.get(name)(keep), late]);
    if (stray) throw stray;
    for (const page of pages) if (page.problems.length) throw new Error(`the page says:\n${page.problems.join('\n')}`);
  } catch (e) {
    const said = [...opened].flatMap((page) => (page.problems ?? []).map((text) => `the page says: ${text}`));
    failure = [e.stack ?? String(e), ...said].join('\n');
    for (const page of opened)
      if (!page.isClosed()) await shot(page, `failed-${name.replace(/\W+/g, '-')}`).catch(() => {});
  }
  clearTimeout(timer);
  await endTest();
  // a test that hangs may still hold its server: another worker goes on in its place
  return {
    name,
    failure,
    seconds: (Date.now() - started) / 1000,
    isLast: isLate,
  };
}

// run.mjs is gone: nobody waits for the rest
process.on('disconnect', () => end().finally(() => process.exit(1)));
process.on('message', async (name) => {
  if (name !== 'end') return process.send(await runTest(name));
  await end();
  process.send({ measures }, () => process.exit(0));
});
