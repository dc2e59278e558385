// Runs the browser tests, several at once: one line a test, then the measures and the sums.
//
//     node tests/e2e/run.mjs [options] [words]   the tests whose names contain one of the words; all without words
//
//     --jobs N      how many worker processes, each with its own browser and servers (default: one a core, at most 4)
//     --only FILE   exactly the tests that FILE names, one a line
//     --repeat N    each test N times: to see whether it is steady
//     --slower N    pages run N times slower than this machine (Chromium's processor throttling)
//     --late MS     every timer of a page fires so many milliseconds late: finds keys and clicks that overtake one
//     --busy        every core is kept busy by a loop of its own while the tests run
//     --junit FILE  results as JUnit has them
//
// A test must pass with --slower 6, with --late 60 and with --busy just as without: what needs time is waited for, not slept for.
// One file's tests run in one worker as long as there are other files to do, so that servers over large logs are
// started once; workers that have nothing left take over tests of the others' files.
import { fork } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { OUT } from './places.mjs';
import { allTests } from './tests.mjs';

const { values: options, positionals: words } = parseArgs({
  options: {
    jobs: {
      type: 'string',
      default: String(Math.min(4, availableParallelism())),
    },
    only: { type: 'string' },
    repeat: { type: 'string', default: '1' },
    slower: { type: 'string' },
    late: { type: 'string' },
    busy: { type: 'boolean', default: false },
    junit: { type: 'string' },
  },
  allowPositionals: true,
});

/** File -> names of its tests that nobody has begun, in their order. */
function wantedTests(tests) {
  const only = options.only ? new Set(readFileSync(options.only, 'utf8').split('\n')) : null;
  const files = new Map();
  for (const { file, name } of tests) {
    if (only && !only.has(name)) continue;
    if (words.length && !words.some((word) => name.includes(word))) continue;
    for (let i = 0; i < Number(options.repeat); i++) files.set(file, [...(files.get(file) ?? []), name]);
  }
  return files;
}

/** The next test for a worker: of its own file, of a file that nobody has begun, of the one with most left. */
function takeTest(left, begun, worker) {
  const most = (files) =>
    files.reduce((a, b) => ((left.get(b) ?? []).length > (left.get(a) ?? []).length ? b : a), files[0]);
  const waiting = [...left.keys()].filter((file) => left.get(file).length);
  if (!waiting.length) return null;
  if (!waiting.includes(worker.file)) {
    const fresh = waiting.filter((file) => !begun.has(file));
    worker.file = most(fresh.length ? fresh : waiting);
    begun.add(worker.file);
  }
  return left.get(worker.file).shift();
}

/** One process of workers.mjs: does tests until none is left. A worker that died or hung is replaced. */
async function work(left, begun, report, measures) {
  const state = { file: '' };
  let name = takeTest(left, begun, state);
  while (name) {
    const child = fork(join(import.meta.dirname, 'worker.mjs'), {
      env: {
        ...process.env,
        ...(options.slower && { SEABOARD_E2E_SLOWER: options.slower }),
        ...(options.late && { SEABOARD_E2E_LATE: options.late }),
      },
    });
    await new Promise((done) => {
      let current = name;
      child.on('message', (message) => {
        if (message.measures) return Object.assign(measures, message.measures);
        report(message);
        current = message.isLast ? null : takeTest(left, begun, state);
        child.send(current ?? 'end');
      });
      child.on('exit', (code) => {
        if (current)
          report({
            name: current,
            failure: `the worker ended with ${code}`,
            seconds: 0,
          });
        done();
      });
      child.send(name);
    });
    name = takeTest(left, begun, state);
  }
}

function junitOf(results, failed) {
  const escape = (text) =>
    text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`).replace(/[^\x09\x0a\x20-\ufffd]/g, '?');
  const cases = results.map(
    (r) =>
      `<testcase name="${escape(r.name)}" time="${r.seconds}">${r.failure ? `<failure message="${escape(r.failure)}"/>` : ''}</testcase>`,
  );
  return `<testsuite name="e2e" tests="${results.length}" failures="${failed}" errors="0" skipped="0">${cases.join('\n')}</testsuite>`;
}

// threads, not processes: they end with this one, however it ends
const burners = options.busy
  ? Array.from({ length: availableParallelism() }, () => new Worker('for (;;);', { eval: true }))
  : [];
const left = wantedTests(await allTests());
const total = [...left.values()].reduce((n, names) => n + names.length, 0);
const begun = new Set();
const results = [];
const measures = {};
const report = (r) => {
  results.push(r);
  console.log(
    `${r.failure ? 'FAILED' : 'ok    '} ${r.seconds.toFixed(1).padStart(5)} s  ${r.name}${r.failure ? `\n${r.failure}` : ''}`,
  );
};
const jobs = Math.min(Number(options.jobs), total);
await Promise.all(Array.from({ length: jobs }, () => work(left, begun, report, measures)));
for (const burner of burners) await burner.terminate();
writeFileSync(join(OUT, 'measures.json'), JSON.stringify(measures, null, 2));
for (const [what, value] of Object.entries(measures)) console.log(`measured  ${what}: ${value}`);
const failed = results.filter((r) => r.failure).length;
if (options.junit) writeFileSync(options.junit, junitOf(results, failed));
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exit(failed || results.length === 0 ? 1 : 0);
