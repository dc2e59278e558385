// Requests for graphs: the list of graphs, the layout of a graph with some boxes open, the details of one box, search by
// name, a path between two boxes.
import {
  ok,
  type GraphDrawAsk,
  type GraphDrawing,
  type GraphFound,
  type GraphNode,
  type GraphPath,
  type GraphSource,
  type GraphsReply,
  type Question,
} from '../../public';

/**
 * The least time between two requests for the list of graphs. Graphs are seldom logged, so a growing run need not cause
 * many requests.
 */
const EVERY_MS = 2000;
export const RUN_TAG = '__run_graph__';

const dependsOn = (source: GraphSource) => {
  const { run, tag } = source.graph;
  return run === undefined || tag === undefined ? null : { tags: [tag], plugin: 'graphs', runs: new Set([run]) };
};

function posted<T>(path: string, body: unknown, source: GraphSource, sizeOf: (answer: T) => number): Question<T> {
  return {
    key: `${path} ${JSON.stringify(body)}`,
    depends: dependsOn(source),
    every: EVERY_MS,
    asks: () => [{ path, body, as: 'json' }],
    take: ([reply]) => ok(reply as T),
    sizeOf,
  };
}

/**
 * The list of graphs. `stamp` changes when tags of graphs are added or removed. It also depends on RUN_TAG, because when
 * a run gets that tag, its name may be known before its graph has been read.
 */
export const graphsQuestion = (stamp: string): Question<GraphsReply> => ({
  key: `graphs ${stamp}`,
  depends: { plugin: 'graphs', tags: [RUN_TAG] },
  every: EVERY_MS,
  asks: () => [{ path: 'graphs', as: 'json' }],
  take: ([reply]) => ok(reply as GraphsReply),
  sizeOf: ({ graphs }) => 100 * graphs.length,
});

export const drawQuestion = (ask: GraphDrawAsk): Question<GraphDrawing> =>
  posted('graph/draw', ask, ask.source, ({ boxes, points }) => 300 * boxes.name.length + 8 * points.length);

export const nodeQuestion = (source: GraphSource, name: string): Question<GraphNode> =>
  posted('graph/node', { source, name }, source, () => 4000);

export const findQuestion = (
  source: GraphSource,
  query: string,
  regex: boolean,
  from: number,
  count: number,
): Question<GraphFound> =>
  posted('graph/find', { source, query, regex, from, count }, source, ({ hits }) => 120 * hits.length);

export const pathQuestion = (source: GraphSource, from: string, to: string): Question<GraphPath> =>
  posted('graph/path', { source, from, to }, source, ({ names }) => 100 * names.length);
