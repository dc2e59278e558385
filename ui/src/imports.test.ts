// The house's rule for imports: base knows nothing of the app, the shell no dashboard, data and widgets only base (and each other downwards), a
// dashboard only its own folder, the rooms and public.ts.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FIRST, NOT_OF_FIRST } from '../tools/first';

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

/** What a file imports or exports from others, without types: [file, name there, name here]. */
const named = (file: string): [string, string, string][] =>
  [
    ...readFileSync(join(src, file), 'utf8').matchAll(/^\s*(?:import|export) (?!type )([^;'"]*?)\s*from '(\.[^']*)'/gm),
  ].flatMap(([, clause, from]) => {
    const path = relative(src, resolve(src, dirname(file), from));
    const to = ['', '.ts', '/index.ts'].map((ending) => path + ending).find((name) => files.includes(name));
    if (!to) return [];
    const [before, inside = '', after = ''] = clause.split(/[{}]/);
    const one = `${before}${after}`.replace(/,/g, '').trim(); // import Name, import * as name
    return [
      ...inside.split(',').flatMap((part): [string, string, string][] => {
        const [name, own = name] = part.trim().split(' as ');
        return !name || name.startsWith('type ') ? [] : [[to, name, own]];
      }),
      ...(one ? [[to, one, one.replace('* as ', '')] as [string, string, string]] : []),
    ];
  });
/** All that these files import, and what that imports. `follow` says which imports of a file count. */
function reached(from: string[], follow: (file: string) => string[]): Set<string> {
  const found = new Set<string>();
  const take = (file: string) => {
    if (found.has(file)) return;
    found.add(file);
    follow(file).forEach(take);
  };
  from.forEach(take);
  return found;
}

describe('the first page', () => {
  const first = FIRST.map((name) => name.replace('src/', ''));
  const ofPublic = new Map(named('public.ts').map(([file, , name]) => [name, file]));
  const used = reached(first, (file) =>
    named(file).flatMap(([to, name]) => (to === 'public.ts' ? (ofPublic.get(name) ?? []) : to)),
  );
  it('has no file that only other dashboards use, by way of public.ts', () => {
    expect(used.size).toBeGreaterThan(100);
    const all = reached(first, (file) => named(file).map(([to]) => to));
    const others = [...all].filter(
      (file) => !used.has(file) && file !== 'public.ts' && !NOT_OF_FIRST.test(`/src/${file}`),
    );
    expect(others).toEqual([]);
  });
  it('lacks nothing that it uses', () => {
    expect([...used].filter((file) => NOT_OF_FIRST.test(`/src/${file}`))).toEqual([]);
  });
});

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
