// A server in memory for unit tests of the data layer: it answers the routes of /api/v1 that the tests need, counts
// requests, and can fail, hang, go down and restart with other runs under the same ids.
import { BAND_AT, BAND_BYTES, BAND_MAGIC, NOT_FOUND, SCALAR_AT, SCALAR_BYTES, SCALAR_MAGIC, UNCHANGED } from '../types';
import type { BandsAsk, Run, ScalarsAsk, StateChange, StateItems, SummariesAsk } from '../types';

interface FakeSeries {
  plugin: string;
  tag: string;
  points: number;
  began: number; // version
  grew: number; // version
}
interface FakeRun {
  id: number;
  name: string;
  changed: number; // version
  series: Map<string, FakeSeries>;
}
interface Held {
  isAnswered: boolean;
  times: number;
  waiting: (() => void)[];
}
interface Failure {
  path: string;
  status: number;
  headers: Record<string, string>;
  times: number;
}

const LOADING = {
  isLoading: false,
  runs: 0,
  files: 0,
  bytes: 0,
  bytesDone: 0,
  points: 0,
  problems: 0,
  problem: '',
};

let instances = 0;

export class FakeServer {
  instance = '';
  version = 1;
  program = '0.1.0';
  /** The script names in the page that the server hands out. */
  page = '<script src="./assets/first-abc.js"></script>';
  people: StateItems = {};
  revision = 1;
  isDown = false;
  runs: FakeRun[] = [];
  /** runs that have data of another dashboard in files */
  inFiles: string[] = [];
  /** "GET status", "POST scalars", ... in the order in which they came */
  requests: string[] = [];
  /** bodies of the POST requests, as JSON */
  bodies: { path: string; body: unknown }[] = [];
  aborted: string[] = [];
  onPush: () => void = () => {};
  /** Versions before this one have tombstones that are forgotten. */
  remembersFrom = 0;
  #nextId = 1;
  private tombstones: { id: number; name: string; version: number }[] = [];
  #failures: Failure[] = [];
  #held = new Map<string, Held>();

  constructor() {
    this.restart();
  }

  // ---- what happens on the server's side ----

  /** Points of a tag of a run, which begins when it is not there yet. */
  log(name: string, tag: string, points = 1, plugin = 'scalars'): void {
    this.version++;
    let run = this.runs.find((r) => r.name === name);
    if (!run) {
      run = { id: this.#nextId++, name, changed: 0, series: new Map() };
      this.runs.push(run);
    }
    run.changed = this.version;
    const key = `${plugin}\n${tag}`;
    const series = run.series.get(key) ?? { plugin, tag, points: 0, began: this.version, grew: 0 };
    series.points += points;
    series.grew = this.version;
    run.series.set(key, series);
    this.onPush();
  }

  remove(name: string): void {
    const run = this.runs.find((r) => r.name === name);
    if (!run) return;
    this.version++;
    this.runs = this.runs.filter((r) => r !== run);
    this.tombstones.push({ id: run.id, name, version: this.version });
    this.onPush();
  }

  /** Another process: ids and versions begin again, nothing is known yet. */
  restart(): void {
    this.instance = String(++instances).padStart(16, '0');
    this.version = 1;
    this.#nextId = 1;
    this.runs = [];
    this.tombstones = [];
  }

  fail(path: string, status: number, { retryAfter, times = 1 }: { retryAfter?: number; times?: number } = {}): void {
    const headers: Record<string, string> = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) };
    this.#failures.push({ path, status, headers, times });
  }

  /**
   * The next so many requests of this path hang until the function that is returned is called: before they are
   * answered, or with the answer under way, which is old by then.
   */
  hold(path: string, isAnswered = false, times = Infinity): () => void {
    const waiting: (() => void)[] = [];
    this.#held.set(path, { isAnswered, times, waiting });
    return () => {
      this.#held.delete(path);
      for (const go of waiting) go();
    };
  }

  count(path: string): number {
    return this.requests.filter((r) => r.split(' ')[1].split('?')[0] === path).length;
  }
  forget(): void {
    this.requests = [];
    this.bodies = [];
  }

  // ---- what the page sees ----

  fetch = async (input: string, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input);
    const path = url.pathname.replace(/^\/api\/v1\//, '');
    const method = init.method ?? 'GET';
    this.requests.push(`${method} ${path}${url.search}`);
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : undefined;
    if (body !== undefined) this.bodies.push({ path, body });
    const signal = init.signal;
    const abort = () => {
      this.aborted.push(path);
      return new DOMException('aborted', 'AbortError');
    };
    const holding = this.#held.get(path);
    const held = holding && holding.times-- > 0 ? holding : undefined;
    const wait = () =>
      new Promise<void>((go, stop) => {
        held?.waiting.push(go);
        signal?.addEventListener('abort', () => stop(abort()));
      });
    if (held && !held.isAnswered) await wait();
    if (signal?.aborted) throw abort();
    if (this.isDown) throw new TypeError('Failed to fetch');
    const failure = this.#failures.find((f) => f.path === path && f.times > 0);
    if (failure) {
      failure.times--;
      const error = { code: failure.status === 503 ? 'busy' : String(failure.status), message: `fails: ${path}` };
      return Response.json({ error }, { status: failure.status, headers: failure.headers });
    }
    const reply = this.#answer(path, url.searchParams, body);
    reply.headers.set('X-Seaboard-Instance', this.instance);
    if (held?.isAnswered) await wait();
    return reply;
  };

  #changeState({ revision, items }: StateChange): Response {
    if (revision !== this.revision) return Response.json({ error: { code: '409', message: 'old' } }, { status: 409 });
    for (const [key, value] of Object.entries(items)) {
      if (value === null) delete this.people[key];
      else this.people[key] = value;
    }
    return Response.json({ version: this.version, revision: ++this.revision });
  }

  #answer(path: string, query: URLSearchParams, body: unknown): Response {
    const { version, instance } = this;
    switch (path) {
      case 'status':
        return Response.json(this.#status());
      case 'runs':
        return Response.json({ version, instance, runs: this.runs.map((r) => this.#run(r)) });
      case 'tags':
        return Response.json({ version, instance, tags: this.#tags() });
      case 'changes':
        return Response.json(this.#changes(Number(query.get('since')), query.get('instance')));
      case 'state':
        if (body !== undefined) return this.#changeState(body as StateChange);
        return Response.json({ version, revision: this.revision, persistent: true, hint: '', items: this.people });
      case 'summaries':
        return Response.json(this.#summaries(body as SummariesAsk));
      case 'scalars':
        return new Response(this.#scalars(body as ScalarsAsk));
      case 'bands':
        return new Response(this.#bands(body as BandsAsk));
      case '/data/plugin/projector/runs':
        return Response.json(this.inFiles);
      case '/':
        return new Response(this.page);
      default:
        return Response.json({ error: { code: 'not_found', message: path } }, { status: 404 });
    }
  }

  #status(): object {
    const plugins: Record<string, number> = {};
    for (const tag of this.#tags()) plugins[tag.plugin] = (plugins[tag.plugin] ?? 0) + 1;
    return {
      version: this.version,
      instance: this.instance,
      program: { name: 'seaboard', version: this.program },
      logdir: '/logs',
      windowTitle: '',
      loading: LOADING,
      memory: { chunks: 0, spilled: 0 },
      state: { persistent: true, hint: '' },
      plugins,
      damage: { files: 0, records: 0, bytes: 0 },
    };
  }

  #run(run: FakeRun): Run {
    let points = 0;
    for (const series of run.series.values()) points += series.points;
    const { id, name, changed } = run;
    return {
      id,
      name,
      start: id,
      last: id,
      state: 'running',
      points,
      series: run.series.size,
      epoch: 1,
      version: changed,
      attempts: 1,
      damaged: 0,
      droppedTags: 0,
    };
  }

  #tags() {
    const found = new Map<string, { plugin: string; tag: string; runs: number[] }>();
    for (const run of this.runs)
      for (const [key, { plugin, tag }] of run.series) {
        const known = found.get(key) ?? { plugin, tag, runs: [] };
        known.runs.push(run.id);
        found.set(key, known);
      }
    return [...found.values()].map(({ plugin, tag, runs }) => ({
      tag,
      plugin,
      displayName: '',
      description: '',
      runs: runs.length === this.runs.length && runs.length > 1 ? ('all' as const) : runs,
      samples: 0,
    }));
  }

  #changes(since: number, instance: string | null): object {
    const { version, tombstones } = this;
    const reset = (instance !== null && instance !== this.instance) || since < this.remembersFrom;
    const from = reset ? 0 : since;
    const runs = this.runs.filter((r) => r.changed > from);
    const series =
      from === 0
        ? []
        : runs.flatMap((r) =>
            [...r.series.values()]
              .filter((s) => s.grew > from)
              .map((s) => [r.id, s.tag, s.points, s.plugin, s.began > from]),
          );
    return {
      version,
      instance: this.instance,
      since: from,
      reset,
      loading: LOADING,
      runCount: this.runs.length,
      runs: runs.map((r) => this.#run(r)),
      gone: tombstones.filter((t) => t.version > from).map(({ id, name }) => ({ id, name })),
      series,
      more: false,
    };
  }

  #summaries({ tags, runs }: SummariesAsk): object {
    const ids = runs ?? this.runs.map((r) => r.id);
    const cell = (tag: string, id: number) => {
      const series = this.#seriesOf(id, tag);
      return series ? { n: series.points, last: series.points, lastStep: series.points, nan: 0, infinite: 0 } : null;
    };
    return {
      version: this.version,
      runs: ids.map((id) => (this.runs.some((r) => r.id === id) ? id : null)),
      tags,
      cells: tags.map((tag) => ids.map((id) => cell(tag, id))),
    };
  }

  #seriesOf(id: number, tag: string): FakeSeries | undefined {
    return this.runs.find((r) => r.id === id)?.series.get(`scalars\n${tag}`);
  }

  /** Steps 0, 1, 2, ...; every value is the run's name as a number ("r7" is 7). */
  #scalars({ series }: ScalarsAsk): ArrayBuffer {
    const found = series.map(({ run, tag, epoch, n }) => {
      const known = this.#seriesOf(run, tag);
      const isSame = known && epoch === 1 && n === known.points;
      return {
        run,
        known,
        flags: known ? (isSame ? UNCHANGED : 0) : NOT_FOUND,
        points: isSame ? 0 : (known?.points ?? 0),
      };
    });
    const doubles = found.reduce((sum, { points }) => sum + 2 * points, 0);
    let at = 16 + found.length * SCALAR_BYTES;
    const v = header(SCALAR_MAGIC, found.length, this.version, at + doubles * 8);
    found.forEach(({ run, known, flags, points }, i) => {
      const entry = 16 + i * SCALAR_BYTES;
      v.setUint32(entry + SCALAR_AT.run, run, true);
      v.setUint32(entry + SCALAR_AT.flags, flags, true);
      v.setBigUint64(entry + SCALAR_AT.epoch, 1n, true);
      v.setBigUint64(entry + SCALAR_AT.n, BigInt(known?.points ?? 0), true);
      v.setUint32(entry + SCALAR_AT.points, points, true);
      if (points === 0) return;
      const value = Number(/\d+/.exec(this.runs.find((r) => r.id === run)?.name ?? '')?.[0] ?? 0);
      v.setUint32(entry + SCALAR_AT.step, at / 8, true);
      v.setUint32(entry + SCALAR_AT.value, at / 8 + points, true);
      for (let k = 0; k < points; k++) {
        v.setFloat64(at + k * 8, k, true);
        v.setFloat64(at + (points + k) * 8, value, true);
      }
      at += 2 * points * 8;
    });
    return v.buffer as ArrayBuffer;
  }

  #bands({ groups }: BandsAsk): ArrayBuffer {
    const v = header(BAND_MAGIC, groups.length, this.version, 16 + groups.length * BAND_BYTES);
    groups.forEach(({ series }, i) => {
      v.setUint32(16 + i * BAND_BYTES + BAND_AT.group, i, true);
      v.setUint32(16 + i * BAND_BYTES + BAND_AT.members, series.length, true);
    });
    return v.buffer as ArrayBuffer;
  }
}

function header(magic: string, entries: number, version: number, bytes: number): DataView {
  const v = new DataView(new ArrayBuffer(bytes));
  [...magic].forEach((c, i) => v.setUint8(i, c.charCodeAt(0)));
  v.setUint32(4, entries, true);
  v.setBigUint64(8, BigInt(version), true);
  return v;
}
