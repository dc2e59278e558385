// The names in the page are those in the C files: a new one there must be given a text here.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { texts as en } from './en';
import { OWN_NAMES } from './ownNames';
import { texts as zh } from './zh';

const profile = join(import.meta.dirname, '../../../../src/profile');
const source = readdirSync(profile, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.c'))
  .map((file) => readFileSync(join(profile, file), 'utf8'))
  .join('\n');

it('names that the reader of profiles gives itself are known, and have texts', () => {
  for (const [name, key] of OWN_NAMES) {
    expect(source).toContain(`"${name}"`);
    expect(en[key]).toBe(name);
    expect(zh[key]).not.toBe(name);
  }
});
it('every cause why a device is idle has a text', () => {
  const causes = [...source.matchAll(/"(idle: [^"]+)"/g)].map((m) => m[1]);
  expect(causes.length).toBeGreaterThan(5);
  expect(causes.filter((cause) => !OWN_NAMES.has(cause))).toEqual([]);
});
