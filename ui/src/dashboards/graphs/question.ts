// Questions about graphs: which there are, one drawn with some boxes open, one box, names, the way between two.
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

/** A graph is logged seldom; a run that grows is not asked about its graph all the time. */
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

/** `stamp` changes when tags of graphs come or go. A run that has the tag of all others is news of its own: its name may be
 *  known before its graph is read. */
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
