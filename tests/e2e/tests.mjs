// Every test of this folder: { file, name, run }. A test file exports an object of functions, named by what they show.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export async function allTests() {
  const tests = [];
  for (const file of readdirSync(import.meta.dirname).sort()) {
    if (!file.endsWith('_test.mjs')) continue;
    const { default: cases } = await import(pathToFileURL(join(import.meta.dirname, file)).href);
    for (const [name, run] of Object.entries(cases)) tests.push({ file, name: `${file.slice(0, -9)}: ${name}`, run });
  }
  return tests;
}
