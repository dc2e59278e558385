// Prints how many bytes each dashboard sends, compressed as the server sends them, beyond what the first page has
// brought; the build fails when the first page's script is more than its budget. That is all script that a browser fetches
// before anybody touches the page: the entry and its texts, the first dashboard, the parts that it loads at once, the
// workers, and the script that looks ahead. `make bench` counts the same in a browser (bench/ui).
import { relative, resolve } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import type { Plugin, Rolldown } from 'vite';

const FIRST = 'src/main.ts';
/** What the first page imports by itself as soon as it is shown. */
const AT_ONCE = /^src\/(?:dashboards\/timeseries\/(?:View\.svelte|texts\.ts)|rooms\/lines\/Tips\.svelte)$/;
const WORKERS = /\/(?:fetch\.worker|stream\.shared)-[^/]+\.js$/;
const LANGUAGE = 'en'; // texts are about as long in every language
const BUDGET = 100_000; // bytes

type Chunk = Rolldown.OutputChunk;
const kilobytes = (n: number) => `${(n / 1000).toFixed(1).padStart(6)} kB`;

export function sizes(root: string): Plugin {
  return {
    name: 'sizes',
    enforce: 'post',
    // not before: only now does the script hold the names of the files that it loads
    writeBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((part): part is Chunk => part.type === 'chunk');
      const sourceOf = (chunk: Chunk) => chunk.facadeModuleId && relative(root, chunk.facadeModuleId);
      const named = (source: RegExp | string) =>
        chunks.filter((chunk) => {
          const from = sourceOf(chunk) ?? '';
          return typeof source === 'string' ? from === source : source.test(from);
        });
      const bytesOf = (name: string) => {
        const part = bundle[name];
        return brotliCompressSync(part.type === 'chunk' ? part.code : part.source).length;
      };
      /** The files that these chunks need, other than those that are there. */
      const needs = (from: Chunk[], there: ReadonlySet<string>): Set<string> => {
        const files = new Set<string>();
        const take = (chunk: Chunk) => {
          if (there.has(chunk.fileName) || files.has(chunk.fileName)) return;
          files.add(chunk.fileName);
          for (const style of chunk.viteMetadata?.importedCss ?? []) if (!there.has(style)) files.add(style);
          for (const name of chunk.imports) {
            const other = bundle[name];
            if (other?.type === 'chunk') take(other);
          }
        };
        from.forEach(take);
        return files;
      };
      const sum = (files: Iterable<string>, ending: string) =>
        [...files].filter((name) => name.endsWith(ending)).reduce((n, name) => n + bytesOf(name), 0);

      const texts = named(new RegExp(`^src/(app/texts|dashboards/timeseries)/${LANGUAGE}\\.ts$`));
      const entries = chunks.filter((chunk) => chunk.moduleIds.includes(resolve(root, FIRST)));
      const first = needs([...entries, ...texts, ...named(AT_ONCE)], new Set());
      const ahead = new RegExp(`/ahead\\.${LANGUAGE}-[^/]+\\.js$`);
      const beside = Object.keys(bundle).filter((name) => WORKERS.test(name) || ahead.test(name));
      if (beside.length !== 3) this.error(`the first page has other scripts than expected: ${beside.join(', ')}`);
      const script = sum([...first, ...beside], '.js');
      const lines = [`${kilobytes(script)} script ${kilobytes(sum(first, '.css'))} style  first page`];
      for (const view of named(/^src\/dashboards\/\w+\/View\.svelte$/)) {
        const folder = /dashboards\/(\w+)\//.exec(sourceOf(view) ?? '')?.[1] ?? '';
        if (first.has(view.fileName)) continue;
        const files = needs([view, ...named(`src/dashboards/${folder}/${LANGUAGE}.ts`)], first);
        lines.push(`${kilobytes(sum(files, '.js'))} script ${kilobytes(sum(files, '.css'))} style  ${folder}`);
      }
      console.log(lines.join('\n'));
      if (script > BUDGET)
        this.error(`the first page sends ${kilobytes(script).trim()} of script, more than ${kilobytes(BUDGET).trim()}`);
    },
  };
}
