// The rule of the house for styles: corners, layers and sizes of text are tokens of app.css, not numbers of their own.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const src = import.meta.dirname;
const LITERAL = /(border-radius:[^;]*\dpx|z-index: *-?\d|font-size: *\d)/;

describe('styles', () => {
  it('use the tokens of corners, layers and sizes of text', () => {
    const strays = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.svelte') || file.endsWith('.css'))
      .flatMap((file) =>
        readFileSync(join(src, file), 'utf8')
          .split('\n')
          .flatMap((line, i) => (LITERAL.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
      );
    expect(strays).toEqual([]);
  });
  it('name only tokens that there are', () => {
    const known = new Set(
      [...readFileSync(join(src, 'app/app.css'), 'utf8').matchAll(/(--[\w-]+):/g)].map((m) => m[1]),
    );
    const used = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.svelte') || file.endsWith('.css'))
      .flatMap((file) =>
        [...readFileSync(join(src, file), 'utf8').matchAll(/var\((--(?:text|size|radius|layer)[\w-]*)/g)].map(
          (m) => m[1],
        ),
      );
    expect([...new Set(used)].filter((name) => !known.has(name))).toEqual([]);
  });
});
