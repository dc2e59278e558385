// What TensorBoard's own page makes of a graph: its tree of scopes and series, the edges of each level and those that
// come in from outside.
//
//   node hierarchy.mjs URL...
//   prints [{"scope": {"children": {"name": "op" | "scope" | "series"}, "edges": [[from, to], ...],
//                      "bridges": [[from, to], ...]}, ...}, ...], one for each page; the root's name is ""
//
// The page keeps all this in the hierarchy of its <tf-graph> element; a log directory should have one graph, since the page
// shows the first one before the one that its address names. Environment: SEABOARD_BROWSER.
import { createRequire } from 'node:module';
import { BROWSER } from '../e2e/places.mjs';

const require = createRequire(new URL('../../ui/package.json', import.meta.url));
const { chromium } = require('playwright-core');

const PATIENCE = 60000;
const pages = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: BROWSER,
  args: ['--no-sandbox'],
});

/** In the page: the hierarchy as plain data; null while it is not there. */
function readHierarchy() {
  const find = (root) => {
    for (const element of root.querySelectorAll('*')) {
      if (element.localName === 'tf-graph') return element;
      const inner = element.shadowRoot && find(element.shadowRoot);
      if (inner) return inner;
    }
    return null;
  };
  const hierarchy = find(document)?.renderHierarchy?.hierarchy;
  if (!hierarchy) return null;
  const KINDS = ['scope', 'op', 'series'];
  const ROOT = hierarchy.root.name;
  const edgesOf = (graph) => graph.edges().map(({ v, w }) => [v, w]);
  const found = {};
  for (const node of [hierarchy.root, ...Object.values(hierarchy.getNodeMap())]) {
    if (!node.isGroupNode) continue;
    found[node.name === ROOT ? '' : node.name] = {
      children: Object.fromEntries(node.metagraph.nodes().map((name) => [name, KINDS[node.metagraph.node(name).type]])),
      edges: edgesOf(node.metagraph),
      bridges: edgesOf(hierarchy.getBridgegraph(node.name)),
    };
  }
  return found;
}

const seen = [];
for (const base of pages) {
  const page = await browser.newPage({
    viewport: { width: 1400, height: 1000 },
  });
  await page.goto(`${base}/#graphs`);
  const handle = await page.waitForFunction(readHierarchy, null, {
    timeout: PATIENCE,
  });
  seen.push(await handle.jsonValue());
  await page.close();
}
await browser.close();
console.log(JSON.stringify(seen));
