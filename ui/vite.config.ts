// How the page is built: relative addresses (any proxy prefix works), hashed names, nothing inlined, so that the
// page's policy can forbid inline script and style. SB_UI_OUT says where to; CMake gives each build tree its own.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  base: './',
  plugins: [svelte()],
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
