// Every catalogue: the files en.ts and zh.ts of a folder.
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const src = join(import.meta.dirname, '..');
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
