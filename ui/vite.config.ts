// How the page is built: relative addresses (any proxy prefix works), hashed names, nothing inlined, so that the
// page's policy can forbid inline script and style. SB_UI_OUT says where to; CMake gives each build tree its own.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin, Rolldown } from 'vite';
import { defineConfig } from 'vitest/config';
import { FIRST as FIRST_PAGE, NOT_OF_FIRST } from './tools/first';
import { sizes } from './tools/sizes';

const FIRST = FIRST_PAGE.map((name) => resolve(import.meta.dirname, name));
/** The catalogues of the shell and of the first dashboard. */
const FIRST_TEXTS = /\/src\/(?:app\/texts|dashboards\/timeseries)\/(en|zh)\.ts$/;
const PAGES = [
  { language: 'en', file: 'index.html', lang: 'en' },
  { language: 'zh', file: 'index.zh.html', lang: 'zh-Hans' },
];

/** Where each dashboard begins: its page, and its cards among those of the time series. */
const DASHBOARDS = resolve(import.meta.dirname, 'src/dashboards');
const BEGINS = readdirSync(DASHBOARDS)
  .flatMap((folder) => ['View.svelte', 'kind.ts'].map((name) => resolve(DASHBOARDS, folder, name)))
  .filter((file) => existsSync(file));
const OURS = resolve(import.meta.dirname, 'src');
const OF_DASHBOARD = /\/src\/dashboards\/([a-z_]+)\//;
/** Rooms that few dashboards share: a file each. */
const OF_FEW = /\/src\/rooms\/(histograms|markup)\//;

/** A page waits for as many answers as it has files, six at a time. The shell, the first dashboard and all they import are one
 * file; every other dashboard is one, and what dashboards share is one. What is imported when it is wanted stays apart. */
function chunkOf(): (id: string, context: Rolldown.ChunkingContext) => string | null {
  const first = new Set<string>();
  const begun = new Set<string>();
  const take = (files: Set<string>, id: string, context: Rolldown.ChunkingContext) => {
    if (files.has(id)) return;
    files.add(id);
    context.getModuleInfo(id)?.importedIds.forEach((other) => take(files, other, context));
  };
  return (id, context) => {
    if (first.size === 0) {
      for (const name of FIRST) take(first, name, context);
      for (const name of BEGINS) take(begun, name, context);
    }
    if (NOT_OF_FIRST.test(id)) return 'shared';
    if (first.has(id)) return 'first';
    if (!begun.has(id) || !id.startsWith(OURS)) return null;
    return OF_DASHBOARD.exec(id)?.[1] ?? `rooms${OF_FEW.exec(id)?.[1] ?? ''}`;
  };
}

type Bundle = Rolldown.OutputBundle;
const VIEW = /\/src\/dashboards\/([a-z_]+)\/View\.svelte$/;

/** Of each dashboard but the first: all files that it needs before it can show something, with its texts. */
function filesOfDashboards(bundle: Bundle, language: string): Record<string, string[]> {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
  const found: Record<string, string[]> = {};
  for (const view of chunks) {
    const id = VIEW.exec(view.facadeModuleId ?? '')?.[1];
    if (!id || FIRST.includes(view.facadeModuleId ?? '')) continue;
    const files = new Set<string>();
    const take = (chunk: Rolldown.OutputChunk) => {
      if (files.has(chunk.fileName) || chunk.isEntry || chunk.name === 'first') return;
      files.add(chunk.fileName);
      for (const css of chunk.viteMetadata?.importedCss ?? []) files.add(css);
      for (const name of chunk.imports) {
        const other = bundle[name];
        if (other?.type === 'chunk') take(other);
      }
    };
    take(view);
    const texts = [
      `/app/texts/parts/${language}.ts`,
      `/dashboards/${id}/${language}.ts`,
      ...([...files].some((name) => has(bundle, name, '/rooms/histograms/'))
        ? [`/rooms/histograms/${language}.ts`]
        : []),
    ];
    for (const chunk of chunks) if (texts.some((name) => chunk.facadeModuleId?.endsWith(name))) take(chunk);
    found[id] = [...files];
  }
  return found;
}
function has(bundle: Bundle, name: string, part: string): boolean {
  const chunk = bundle[name];
  return chunk?.type === 'chunk' && chunk.moduleIds.some((id) => id.includes(part));
}

/** A few lines that run before the page's script is here. They fetch all files of the dashboard that the address names, which the
 * script would ask for only after it has been read and run, and leave a function that does it for others (app/tabs/ahead.ts). */
const ahead = (files: Record<string, string[]>): string => `
globalThis.seaboardAhead = (tab) => {
  for (const file of ${JSON.stringify(files)}[tab] ?? []) {
    const link = document.createElement('link');
    link.rel = file.endsWith('.css') ? 'prefetch' : 'modulepreload';
    link.crossOrigin = '';
    link.href = './' + file;
    document.head.append(link);
  }
};
seaboardAhead(location.hash.slice(1).split('&')[0]);
`;

/** What is fetched beside a file that is imported later; the files of dashboards are fetched by the lines above. */
const neededBy = (file: string, needed: string[]): string[] =>
  /\/(?:View|kind)-/.test(file) ? [] : needed.filter((name) => name !== file);

/** The view of the first dashboard, which is in the first script but has a name of its own, and the texts of the first page. */
const isFirst = (id: string, language: string): boolean => id === FIRST[1] || FIRST_TEXTS.exec(id)?.[1] === language;

/** One page a language, which fetches its texts beside the script; the server chooses by what the browser prefers. */
function pages(): Plugin {
  return {
    name: 'pages',
    enforce: 'post',
    generateBundle(_, bundle) {
      const page = bundle['index.html'];
      if (page?.type !== 'asset') throw new Error('there is no index.html');
      const source = String(page.source);
      for (const { language, file, lang } of PAGES) {
        const links = Object.values(bundle).flatMap((chunk) =>
          chunk.type === 'chunk' && isFirst(chunk.facadeModuleId ?? '', language)
            ? [`  <link rel="modulepreload" crossorigin href="./${chunk.fileName}">\n`]
            : [],
        );
        if (links.length !== 3) throw new Error(`${file} needs a view and two catalogues: ${links.join('')}`);
        const script = ahead(filesOfDashboards(bundle, language));
        const reference = this.emitFile({ type: 'asset', name: `ahead.${language}.js`, source: script });
        const first = `<script async src="./${this.getFileName(reference)}"></script>\n    <link rel="icon"`;
        const head = `${links.join('')}  </head>`;
        const html = source
          .replace('<html lang="en">', `<html lang="${lang}">`)
          .replace('<link rel="icon"', first)
          .replace('</head>', head);
        if (file === 'index.html') page.source = html;
        else this.emitFile({ type: 'asset', fileName: file, source: html });
      }
    },
  };
}

/** Of KaTeX's fonts only those that every browser of today reads: the others would be three quarters of the page. */
function onlyWoff2(): Plugin {
  return {
    name: 'only-woff2',
    enforce: 'pre',
    transform: (code, id) =>
      id.includes('katex') && id.endsWith('.css')
        ? code.replace(/,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\((["'])(?:woff|truetype)\1\)/g, '')
        : null,
  };
}

/** The server sends no rendered page, and nothing is compiled for Svelte 4 or for its experimental async mode: what Svelte's runtime
 * has for them is dead code once it knows that these are never on. */
const NEVER_ON: Record<string, RegExp> = {
  'svelte/src/internal/client/dom/hydration.js': /export let (hydrating) = false;|\bhydrating = value;/g,
  'svelte/src/internal/flags/index.js': /export let (\w+) = false;|\b\w+_mode_flag = (?:true|false);/g,
};
function neverOn(): Plugin {
  return {
    name: 'never-on',
    enforce: 'pre',
    apply: 'build',
    transform(code, id) {
      const pattern = Object.entries(NEVER_ON).find(([file]) => id.endsWith(file))?.[1];
      if (!pattern) return null;
      if (!pattern.test(code)) throw new Error(`${id} is not what it was: look at NEVER_ON`);
      return code.replace(pattern, (_, name?: string) => (name ? `export const ${name} = false;` : ''));
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [svelte(), neverOn(), onlyWoff2(), pages(), sizes(import.meta.dirname)],
  build: {
    outDir: process.env.SB_UI_OUT ?? 'dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false, resolveDependencies: neededBy },
    reportCompressedSize: false,
    rolldownOptions: {
      // of these only what is used: of Svelte, custom elements and the interface of version 4 are not
      treeshake: { moduleSideEffects: (id) => !id.includes('/node_modules/svelte/') && !NOT_OF_FIRST.test(id) },
      optimization: { inlineConst: { mode: 'all', pass: 3 } },
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false, // chunkOf says it of every file
          groups: [{ name: chunkOf(), debugName: 'the first page, dashboards, rooms' }],
        },
      },
    },
  },
  worker: { format: 'es' },
  server: { proxy: { '/api': process.env.SB_UI_SERVER ?? 'http://127.0.0.1:6006' } },
  // nothing here waits for real time: the limits only have to be long enough for a busy machine
  test: { include: ['src/**/*.test.ts'], environment: 'node', testTimeout: 60_000, hookTimeout: 60_000 },
});
