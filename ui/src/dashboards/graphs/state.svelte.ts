// The state of the graph dashboard: which graph is shown, which boxes are open, and which box is selected. It connects
// the address with the drawing.
import { untrack } from 'svelte';
import {
  hub,
  LiveQuery,
  runs,
  settings,
  type GraphDrawAsk,
  type GraphDrawing,
  type GraphEntry,
  type GraphFound,
  type GraphNode,
  type GraphPath,
  type GraphRef,
  type GraphsReply,
  type GraphSource,
  type Run,
} from '../../public';
import { coloursOf, themeOf } from './drawing/colours';
import { AUXILIARY, Drawing, SERIES } from './drawing/drawing';
import { graphFiles } from './files/files.svelte';
import { LargeDrawing } from './files/large.svelte';
import { drawQuestion, findQuestion, graphsQuestion, nodeQuestion, pathQuestion, RUN_TAG } from './question';
import { tt } from './texts';
import { graphView as v, type Colouring } from './view.svelte';

const PLUGINS = new Set([
  'graphs',
  'graph_run_metadata',
  'graph_run_metadata_graph',
  'graph_keras_model',
  'graph_tagged_run_metadata',
]);
export const PAGE = 500; // search results in one request

export interface Choice {
  value: string;
  text: string;
}

export class GraphState {
  private readonly list = new LiveQuery<GraphsReply>();
  private readonly drawn = new LiveQuery<GraphDrawing>();
  private readonly node = new LiveQuery<GraphNode>();
  private readonly found = new LiveQuery<GraphFound>();
  private readonly way = new LiveQuery<GraphPath>();
  /** a box that must become visible: the scopes around it are opened */
  reveal = $state<string>('');
  /** a box that the stage has to scroll to */
  focused = $state('');
  /** true while the viewer chooses the other end of a path: the next chosen box is that end */
  picking = $state(false);
  hit = $state(0);

  constructor() {
    if (v.at) this.reveal = this.focused = v.at;
  }

  // ---- which graph ----

  private readonly entries = $derived.by((): readonly GraphEntry[] => this.list.answer?.graphs ?? []);
  private readonly stamp = $derived(
    hub.tags
      .filter(({ plugin }) => PLUGINS.has(plugin))
      .map(({ tag, runs: has }) => `${tag} ${has === 'all' ? hub.runs.length : has.length}`)
      .join(' '),
  );
  /** Runs that have a graph, in the order of the list of runs. */
  readonly runsWith = $derived.by((): Run[] => {
    const ids = new Set(this.entries.filter(({ kind }) => kind !== 'stats').map(({ run }) => run));
    return hub.runs.filter(({ id }) => ids.has(id));
  });
  /**
   * The shown run with the largest graph: a large model is more interesting than a small graph that was logged for a
   * test.
   */
  private readonly largest = $derived.by((): Run | undefined => {
    const shown = this.runsWith.filter((run) => runs.shown.includes(run));
    let best: Run | undefined;
    for (const run of shown.length ? shown : this.runsWith)
      if (!best || this.sizeOf(run.id) > this.sizeOf(best.id)) best = run;
    return best;
  });
  /**
   * The name of the run that was shown when all logs had been read. A run that appears later with a larger graph does not
   * replace it.
   */
  private settled = $state('');
  readonly run = $derived.by((): Run | undefined => {
    const named = (wanted: string) => (wanted ? this.runsWith.find(({ name }) => name === wanted) : undefined);
    const settled = named(this.settled);
    return named(v.run) ?? (settled && runs.shown.includes(settled) ? settled : undefined) ?? this.largest;
  });
  /** The size of the run's largest graph in bytes. */
  private sizeOf(run: number): number {
    const sizes = this.entries.filter((entry) => entry.run === run && entry.kind !== 'stats').map(({ bytes }) => bytes);
    return Math.max(0, ...sizes);
  }
  private readonly runId = $derived(this.run?.id);
  private readonly ofRun = $derived(this.entries.filter(({ run }) => run === this.runId));
  readonly graphs = $derived(
    this.ofRun
      .filter(({ kind }) => kind !== 'stats')
      .map(({ tag, kind }): Choice => ({ value: tag, text: nameOfGraph(tag, kind) })),
  );
  /**
   * The tag that is shown by default: the graph of the run, or its Keras model, or the largest traced graph, because a
   * model is more interesting than a single traced step.
   */
  private readonly usualTag = $derived.by(() => {
    const all = this.ofRun.filter(({ kind }) => kind !== 'stats');
    const whole = all.find(({ tag }) => tag === RUN_TAG) ?? all.find(({ kind }) => kind === 'keras');
    return (whole ?? all.toSorted((a, b) => b.bytes - a.bytes).at(0))?.tag ?? '';
  });
  readonly tag = $derived(this.graphs.find(({ value }) => value === v.tag)?.value ?? this.usualTag);
  /** Tags of run statistics that belong to the run's own graph. */
  readonly statsTags = $derived(
    this.tag === RUN_TAG ? this.ofRun.filter(({ kind }) => kind === 'stats').map(({ tag }) => tag) : [],
  );
  readonly stats = $derived(
    v.stats === '-' ? '' : (this.statsTags.find((tag) => tag === v.stats) ?? this.statsTags.at(-1) ?? ''),
  );
  /** Runs whose graph can be compared with this one: those that have a graph with the same tag. */
  readonly others = $derived.by(() => {
    const ids = new Set(this.entries.filter(({ tag }) => tag === this.tag).map(({ run }) => run));
    return this.runsWith.filter(({ id }) => id !== this.runId && ids.has(id));
  });
  readonly other = $derived(v.file ? undefined : this.others.find(({ name }) => name === v.other));
  private readonly otherId = $derived(this.other?.id);

  /** The source of the graph as text, so that effects run only when its content changes. */
  private readonly sourceKey = $derived.by(() => {
    if (v.file) return JSON.stringify({ graph: { file: v.file } } satisfies GraphSource);
    if (this.runId === undefined || !this.tag) return '';
    const source: GraphSource = { graph: { run: this.runId, tag: this.tag } };
    if (this.stats) source.stats = this.stats;
    if (v.skip.length) source.skip = [...v.skip];
    if (this.otherId !== undefined) source.other = { run: this.otherId, tag: this.tag } satisfies GraphRef;
    return JSON.stringify(source);
  });
  /** Number of bytes that the server has to read. */
  readonly bytes = $derived.by(() => {
    if (v.file) return 0; // the server has read it already
    const sizeOf = (run: number | undefined, tag: string) =>
      this.entries.find((entry) => entry.run === run && entry.tag === tag)?.bytes ?? 0;
    return sizeOf(this.runId, this.tag) + sizeOf(this.runId, this.stats) + sizeOf(this.otherId, this.tag);
  });
  private readonly source = $derived(this.sourceKey ? (JSON.parse(this.sourceKey) as GraphSource) : null);
  /** The graph without statistics and comparison: the open boxes stay open when only these change. */
  readonly graphKey = $derived(JSON.stringify(this.source?.graph ?? null));
  readonly isAsked = $derived(this.sourceKey !== '');
  readonly title = $derived(v.file ? v.fileName || v.file : this.run ? runs.nameOf(this.run) : '');
  /** The name of the run that the graph is compared with; '' if none. */
  readonly otherTitle = $derived(this.other ? runs.nameOf(this.other) : '');
  readonly isEmpty = $derived(this.list.answer !== undefined && !v.file && this.runsWith.length === 0);

  // ---- the drawing ----

  private readonly ask = $derived.by((): GraphDrawAsk | null => {
    if (!this.source) return null;
    const ask: GraphDrawAsk = {
      source: this.source,
      open: [...(v.open ?? [])],
      auto: v.open === null,
      extract: !v.keepAll,
    };
    if (this.reveal) ask.reveal = [this.reveal];
    if (v.ungrouped.length) ask.ungrouped = [...v.ungrouped];
    if (v.main.length) ask.main = [...v.main];
    if (v.side.length) ask.side = [...v.side];
    if (v.constants) ask.constants = true;
    if (v.path && v.at) ask.path = [v.at, v.path];
    else if (v.trace && v.at) ask.trace = v.at;
    return ask;
  });
  private readonly large = new LargeDrawing();
  /** The server refused to lay out the graph within a request, because it is too large. */
  private readonly isLarge = $derived(this.drawn.answer?.isLarge === true);
  /** Does the answer belong to the current request? */
  private readonly isAnswered = $derived(this.ask !== null && this.drawn.answers(drawQuestion(this.ask)));
  private readonly answer = $derived(this.isLarge ? this.large.of(this.sourceKey) : this.drawn.answer);
  readonly drawing = $derived(this.answer ? new Drawing(this.answer) : null);
  /** The source for all other requests; null until the server has read the graph. */
  private readonly readSource = $derived(this.large.of(this.sourceKey) ? this.source : null);
  /** Is a large graph being read or laid out? `share` is its progress, 0 to 1. */
  readonly isReading = $derived(this.isLarge && this.large.isRunning);
  get share() {
    return this.large.share;
  }
  readonly totals = $derived(this.drawing?.of.totals);
  readonly selected = $derived(this.drawing?.byName.get(v.at) ?? -1);
  readonly hasMarks = $derived(Boolean(v.at && (v.trace || v.path)));

  /** The colourings that are useful for this graph. */
  readonly colourings = $derived.by((): Colouring[] => {
    const { totals, drawing } = this;
    const has = (column: readonly number[] | undefined) => column?.some((id) => id >= 0) ?? false;
    const all: Colouring[] = ['none', 'structure'];
    if (has(drawing?.of.boxes.device)) all.push('device');
    if (has(drawing?.of.boxes.cluster)) all.push('cluster');
    if (totals && totals.time >= 0) all.push('time', 'memory');
    if (totals && totals.producer > 22) all.push('tpu');
    return all;
  });
  readonly theme = $derived(themeOf(settings.dark));
  readonly colouring = $derived(this.other ? 'difference' : this.colourings.includes(v.colour) ? v.colour : 'none');
  readonly colours = $derived(
    this.drawing
      ? coloursOf(this.drawing, this.colouring, this.theme, {
          one: this.title,
          other: this.otherTitle,
        })
      : { fill: [], legend: null },
  );
  /** In a comparison: which of the two graphs has this box, or that they differ there; '' if they are equal there. */
  sideOf(i: number): string {
    const side = this.drawing?.of.boxes.side[i] ?? 0;
    if (side === 1) return tt('changed');
    return side ? tt('onlyIn', { name: side === 2 ? this.title : this.otherTitle }) : '';
  }
  get trouble() {
    return (this.isLarge ? this.large.trouble : null) ?? this.drawn.trouble ?? this.list.trouble;
  }
  tryNow(): void {
    this.list.tryNow();
    this.drawn.tryNow();
    this.round += 1;
  }

  /** To be called in an effect. */
  follow(): void {
    this.list.follow(() => graphsQuestion(this.stamp));
    $effect(() => {
      const isRead = hub.status?.loading.isLoading === false;
      if (isRead && this.run && this.list.answer) this.settled = this.run.name;
    });
    this.drawn.follow(() => (this.ask ? drawQuestion(this.ask) : null));
    $effect(() => {
      if (graphFiles.opened) untrack(() => this.trouble && this.tryNow());
    });
    $effect(() => this.followLarge());
    const { node, way, found } = this;
    node.follow(() => (this.readSource && v.at && this.selected >= 0 ? nodeQuestion(this.readSource, v.at) : null));
    way.follow(() => (this.readSource && v.at && v.path ? pathQuestion(this.readSource, v.at, v.path) : null));
    found.follow(
      () => this.findAsk,
      () => 120,
    );
    $effect(() => {
      if (!this.goesWhenFound || !this.isFound) return;
      this.goesWhenFound = false;
      this.showHit();
    });
    // A box that was revealed counts as open from now on, and the viewer can close it again.
    $effect(() => {
      if (!this.reveal || !this.drawing?.byName.has(this.reveal)) return;
      v.open = this.drawing.open;
      this.reveal = '';
    });
  }

  /** Is incremented to run a job again. */
  private round = $state(0);
  /** Did the server drop the graph from memory? The errors of other requests say so. */
  private readonly isGone = $derived(
    [this.node, this.way, this.found].some(({ trouble }) => trouble?.code === 'large'),
  );
  private followLarge(): (() => void) | undefined {
    const { ask, sourceKey, isAnswered, isLarge, isGone } = this;
    const { answer } = this.drawn;
    void this.round;
    if (!ask || !answer || !isAnswered) return undefined;
    if (isLarge || isGone)
      return untrack(() =>
        this.large.make(sourceKey, ask, () => [this.node, this.way, this.found].forEach((query) => query.tryNow())),
      );
    untrack(() => this.large.hold(sourceKey, answer));
    return undefined;
  }

  // ---- what the viewer does ----

  choose(name: string): void {
    if (this.picking && name && v.at && name !== v.at) {
      this.picking = false;
      v.path = name;
      v.trace = false;
      return;
    }
    this.picking = false;
    if (name !== v.at) v.path = '';
    v.at = name;
  }
  /** Selects a box, even if it is inside a closed box. */
  goTo(name: string): void {
    if (this.picking) {
      this.choose(name);
      return;
    }
    v.path = '';
    v.at = name;
    if (!this.drawing?.byName.has(name)) this.reveal = name;
    this.focused = name;
  }
  /** Includes or excludes the measurements of a device. */
  toggleDevice(device: string): void {
    v.skip = v.skip.includes(device) ? v.skip.filter((other) => other !== device) : [...v.skip, device];
  }
  toggle(name: string): void {
    const { drawing } = this;
    const i = drawing?.byName.get(name) ?? -1;
    if (!drawing || i < 0 || !drawing.canOpen(i)) return;
    const open = drawing.open;
    v.open = open.includes(name) ? open.filter((other) => other !== name) : [...open, name];
  }

  isAside(i: number): boolean {
    return this.drawing?.has(i, AUXILIARY) ?? false;
  }
  /** Moves a box from the graph to the auxiliary list or back. Boxes in that list are closed. */
  moveAside(name: string, aside: boolean): void {
    const without = (list: readonly string[]) => list.filter((other) => other !== name);
    const open = this.drawing?.open ?? [];
    if (aside && open.includes(name)) v.open = without(open);
    v.main = aside ? without(v.main) : [...without(v.main), name];
    v.side = aside ? [...without(v.side), name] : without(v.side);
  }

  /** The name of the series, if the box is one; otherwise ''. */
  seriesOf(i: number): string {
    const { drawing } = this;
    if (!drawing || i < 0) return '';
    return drawing.of.boxes.kind[i] === SERIES ? drawing.of.boxes.name[i] : '';
  }
  ungroup(series: string): void {
    v.ungrouped = [...v.ungrouped, series];
    if (v.at === series) v.at = '';
  }
  group(series: string): void {
    v.ungrouped = v.ungrouped.filter((other) => other !== series);
  }

  // ---- the card, names, paths ----

  readonly card = $derived(this.node.answer?.name === v.at ? this.node.answer : null);
  get cardTrouble() {
    return this.node.trouble;
  }
  readonly path = $derived(v.path ? (this.way.answer ?? null) : null);
  private readonly findAsk = $derived(
    this.readSource && v.query
      ? findQuestion(this.readSource, v.query, v.regex, Math.floor(this.hit / PAGE) * PAGE, PAGE)
      : null,
  );
  /** Do the search results belong to the text that is typed now? */
  private readonly isFound = $derived(this.findAsk !== null && this.found.answers(this.findAsk));
  /** Enter was pressed before the search results had arrived. */
  private goesWhenFound = $state(false);
  readonly hits = $derived(v.query ? (this.found.answer ?? null) : null);
  get hitTrouble() {
    return v.query ? this.found.trouble : null;
  }
  readonly hitBoxes = $derived.by((): ReadonlySet<number> => {
    const boxes = new Set<number>();
    for (const { name } of this.hits?.hits ?? []) {
      const i = this.drawing?.byName.get(name);
      if (i !== undefined) boxes.add(i);
    }
    return boxes;
  });
  find(query: string): void {
    v.query = query;
    this.hit = 0;
    this.goesWhenFound = false;
  }
  /**
   * Goes to the current search result or, if that is selected already, to the next one. If the results have not arrived
   * yet, it waits for them.
   */
  enter(by: number): void {
    const { hits, hit } = this;
    if (!this.isFound) this.goesWhenFound = true;
    else if (v.at === hits?.hits.at(hit - hits.from)?.name) this.step(by);
    else this.showHit();
  }
  /** Goes to the next or previous search result; after the last one it continues with the first. */
  step(by: number): void {
    const total = this.hits?.total ?? 0;
    if (total === 0) return;
    this.hit = (this.hit + by + total) % total;
    this.showHit();
  }
  showHit(): void {
    const { hits, hit } = this;
    const name = hits?.hits.at(hit - hits.from)?.name;
    if (name !== undefined && hit >= (hits?.from ?? 0)) this.goTo(name);
  }

  // ---- files ----

  closeFile(): void {
    v.forget();
    v.file = v.fileName = '';
  }
}

export function nameOfGraph(tag: string, kind: GraphEntry['kind']): string {
  if (kind === 'run') return tt('kindRun');
  return tt(kind === 'keras' ? 'kindKeras' : 'kindTrace', { tag });
}
