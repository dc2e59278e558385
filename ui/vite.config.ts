// How the page is built: relative addresses (any proxy prefix works), hashed names, nothing inlined, so that the
// page's policy can forbid inline script and style. SB_UI_OUT says where to; CMake gives each build tree its own.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { resolve } from 'node:path';
import type { Plugin, Rolldown } from 'vite';
import { defineConfig } from 'vitest/config';
import { sizes } from './tools/sizes';

const FIRST = ['src/main.ts', 'src/dashboards/timeseries/View.svelte'].map((name) =>
  resolve(import.meta.dirname, name),
);
/** The catalogues of the shell and of the first dashboard. */
const FIRST_TEXTS = /\/src\/(?:app|dashboards\/timeseries)\/(en|zh)\.ts$/;
const PAGES = [
  { language: 'en', file: 'index.html', lang: 'en' },
  { language: 'zh', file: 'index.zh.html', lang: 'zh-Hans' },
];

/** The shell, the first dashboard and all they import are one file: the first chart waits for one answer, not for ten. */
function firstPage(): (id: string, context: Rolldown.ChunkingContext) => string | null {
  const files = new Set<string>();
  const take = (id: string, context: Rolldown.ChunkingContext) => {
    if (files.has(id)) return;
    files.add(id);
    context.getModuleInfo(id)?.importedIds.forEach((other) => take(other, context));
  };
  return (id, context) => {
    if (files.size === 0) for (const name of FIRST) take(name, context);
    return files.has(id) ? 'first' : null;
  };
}

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
          chunk.type === 'chunk' && FIRST_TEXTS.exec(chunk.facadeModuleId ?? '')?.[1] === language
            ? [`  <link rel="modulepreload" crossorigin href="./${chunk.fileName}">\n`]
            : [],
        );
        if (links.length === 0) throw new Error(`there are no texts for ${file}`);
        const head = `${links.join('')}  </head>`;
        const html = source.replace('<html lang="en">', `<html lang="${lang}">`).replace('</head>', head);
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

export default defineConfig({
  base: './',
  plugins: [svelte(), onlyWoff2(), pages(), sizes(import.meta.dirname)],
  build: {
    outDir: process.env.SB_UI_OUT ?? 'dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: firstPage(), debugName: 'the first page' }] } } },
  },
  worker: { format: 'es' },
  server: { proxy: { '/api': process.env.SB_UI_SERVER ?? 'http://127.0.0.1:6006' } },
  // nothing here waits for real time: the limits only have to be long enough for a busy machine
  test: { include: ['src/**/*.test.ts'], environment: 'node', testTimeout: 60_000, hookTimeout: 60_000 },
});
