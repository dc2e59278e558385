// How the page is built: relative addresses (any proxy prefix works), hashed names, nothing inlined, so that the
// page's policy can forbid inline script and style. SB_UI_OUT says where to; CMake gives each build tree its own.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** The page asks for the first dashboard's code together with its own, not after having run it. */
const firstDashboard: Plugin = {
  name: 'first-dashboard',
  transformIndexHtml: {
    order: 'post',
    handler(_html, { bundle }) {
      const chunk = Object.values(bundle ?? {}).find((c) => c.type === 'chunk' && c.facadeModuleId?.endsWith('dashboards/timeseries/View.svelte'));
      if (chunk?.type !== 'chunk') return [];
      const styles = [...(chunk.viteMetadata?.importedCss ?? [])];
      return [
        { tag: 'link', attrs: { rel: 'modulepreload', crossorigin: true, href: `./${chunk.fileName}` }, injectTo: 'head' as const },
        ...styles.map((href) => ({ tag: 'link', attrs: { rel: 'preload', as: 'style', crossorigin: true, href: `./${href}` }, injectTo: 'head' as const })),
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
