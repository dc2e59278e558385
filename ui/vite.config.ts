// How the page is built: relative addresses (any proxy prefix works), hashed names, nothing inlined, so that the
// page's policy can forbid inline script and style. SB_UI_OUT says where to; CMake gives each build tree its own.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** The page asks for the first dashboard's code, and what that imports, together with its own, not after having run it. */
const firstDashboard: Plugin = {
  name: 'first-dashboard',
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle }) {
      const files = bundle ?? {};
      const first = Object.values(files).find((c) => c.type === 'chunk' && c.facadeModuleId?.endsWith('dashboards/timeseries/View.svelte'));
      const scripts = new Set<string>();
      const styles = new Set<string>();
      const take = (name: string) => {
        const chunk = files[name];
        if (chunk?.type !== 'chunk' || chunk.isEntry || scripts.has(name)) return;
        scripts.add(name);
        for (const href of chunk.viteMetadata?.importedCss ?? []) styles.add(href);
        chunk.imports.forEach(take);
      };
      if (first) take(first.fileName);
      const link = (attrs: Record<string, string>, name: string) => ({ tag: 'link', attrs: { ...attrs, crossorigin: true, href: `./${name}` }, injectTo: 'head' as const });
      const isThere = (name: string) => html.includes(name);
      return [
        ...[...scripts].filter((name) => !isThere(name)).map((name) => link({ rel: 'modulepreload' }, name)),
        ...[...styles].filter((name) => !isThere(name)).map((name) => link({ rel: 'preload', as: 'style' }, name)),
      ];
    },
  },
};

export default defineConfig({
  base: './',
  plugins: [svelte(), firstDashboard],
  build: {
    outDir: process.env.SB_UI_OUT ?? 'dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  worker: { format: 'es' },
  server: { proxy: { '/api': process.env.SB_UI_SERVER ?? 'http://127.0.0.1:6006' } },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
});
