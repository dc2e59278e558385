// Every catalogue: the files en.ts and zh.ts of a folder; and which texts the first page brings.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const src = join(import.meta.dirname, '../..');
const folders = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => /(^|\/)en\.ts$/.test(file))
  .map((file) => dirname(file));
const read = async (folder: string, language: string) =>
  ((await import(join(src, folder, `${language}.ts`))) as { texts: Record<string, string> }).texts;
const holes = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).sort();

describe.each(folders)('the catalogue of %s', async (folder) => {
  const [en, zh] = [await read(folder, 'en'), await read(folder, 'zh')];
  it('has the same keys in every language', () => expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort()));
  it('fills in the same values', () => {
    for (const key of Object.keys(en)) expect([key, holes(zh[key])]).toEqual([key, holes(en[key])]);
  });
  it('leaves nothing empty', () => {
    for (const texts of [en, zh]) for (const text of Object.values(texts)) expect(text).not.toBe('');
  });
});

/** The files that the first page reads at once: what its script and its first dashboard import, and what these import. */
function filesOfFirstPage(): Map<string, string> {
  const found = new Map<string, string>();
  const IMPORT = /(?:^|\n)\s*(?:import|export)\s+(?!type\b)(?:[^;'"]*?\sfrom\s+)?['"](\.[^'"]+)['"]/g;
  const read = (path: string) => {
    const file = [path, `${path}.ts`, join(path, 'index.ts')].find((name) =>
      statSync(name, { throwIfNoEntry: false })?.isFile(),
    );
    if (!file || found.has(file)) return;
    const code = readFileSync(file, 'utf8');
    found.set(file, code);
    for (const [, other] of code.matchAll(IMPORT)) read(join(dirname(file), other));
  };
  read(join(src, 'main.ts'));
  read(join(src, 'dashboards/timeseries/View.svelte'));
  return found;
}

describe('the first page', () => {
  const files = [...filesOfFirstPage()].filter(([file]) => !/\/(en|zh)\.ts$/.test(file));
  /** Those that name the key, or build it from a beginning in t(`...${}`). */
  const usersOf = (key: string, within: string) =>
    files
      .filter(([file]) => file.startsWith(join(src, within)))
      .filter(
        ([, code]) =>
          code.includes(`'${key}'`) ||
          [...code.matchAll(within ? /\btt\(\s*`([^$`]+)\$\{/g : /\bt\(\s*`([^$`]+)\$\{/g)].some(([, start]) =>
            key.startsWith(start),
          ),
      )
      .map(([file]) => file);

  it('is found by its imports', () => expect(files.length).toBeGreaterThan(100));
  it.each([
    ['app/texts', ''],
    ['dashboards/timeseries', 'dashboards/timeseries'],
  ])('needs no text of %s that is loaded later', async (folder, within) => {
    const later = Object.keys(await read(`${folder}/parts`, 'en'));
    expect(later.length).toBeGreaterThan(50);
    for (const key of later) expect([key, usersOf(key, within)]).toEqual([key, []]);
  });
});
