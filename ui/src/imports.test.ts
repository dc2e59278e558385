// The house's rule for imports: base knows nothing of the app, the shell no dashboard, data and widgets only base (and each other downwards), a
// dashboard only its own folder, the rooms and public.ts.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const src = import.meta.dirname;
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (f) => /\.(ts|svelte)$/.test(f) && !f.endsWith('.test.ts'),
);
const imports = (file: string) =>
  [...readFileSync(join(src, file), 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']*)'/g)].map((m) =>
    relative(src, resolve(src, dirname(file), m[1])),
  );
const strays = (folder: string, allowed: RegExp) =>
  files
    .filter((f) => f.startsWith(folder))
    .flatMap((f) =>
      imports(f)
        .filter((to) => !allowed.test(to))
        .map((to) => `${f} imports ${to}`),
    );

describe('imports', () => {
  it('of base stay in base', () => expect(strays('base/', /^base\//)).toEqual([]));
  it('of data go to base only', () => expect(strays('data/', /^(base|data)\//)).toEqual([]));
  it('of widgets go to base only', () => expect(strays('widgets/', /^(base|widgets)\//)).toEqual([]));
  it('of a room go to rooms and public.ts', () => expect(strays('rooms/', /^(rooms\/|public$)/)).toEqual([]));
  it('of the shell go to no dashboard: it knows the list only', () =>
    expect(strays('app/', /^(app|base|data|widgets)\/|^dashboards$/)).toEqual([]));
  it('of a dashboard go to its own folder, the rooms and public.ts', () => {
    for (const name of readdirSync(join(src, 'dashboards'), { withFileTypes: true }).filter((d) => d.isDirectory()))
      expect(strays(`dashboards/${name.name}/`, new RegExp(`^(dashboards/${name.name}/|rooms/|public$)`))).toEqual([]);
  });
});
