// What the page knows of the server: status, runs, tags, people's notes; kept up to date by the live stream. Dashboards
// read these; they ask for points themselves. `changed` says which tags have new points since the last look.
import { Pace } from '../base/pace';
import type { Problem } from '../base/result';
import { api, apiUrl } from './api';
import { withInherited } from './inherit';
import { Live } from './live';
import type { Changes, People, Run, StateItems, Status, Tag } from './types';

export type Connection = 'connecting' | 'live' | 'lost';

const TAGS_EVERY_MS = 1000;
const RETRY_MS = 2000;

export class Hub {
  status = $state.raw<Status | null>(null);
  runs = $state.raw<Run[]>([]);
  tags = $state.raw<Tag[]>([]);
  people = $state.raw<StateItems>({});
  persistent = $state(false);
  connection = $state<Connection>('connecting');
  lostSince = $state(0);
  /** when the newest data came, and the tags and runs in it; null: any */
  changed = $state.raw<{ version: number; tags: Set<string> | null; runs: Set<number> | null }>({
    version: 0,
    tags: null,
    runs: null,
  });
  lastNews = $state(0);
  paused = $state(false);
  ready = $state(false);
  /** why there is nothing yet; null: nothing is wrong */
  problem = $state.raw<Problem | null>(null);
  /** seconds until the logs are read; null: read, or nobody can tell */
  left = $state<number | null>(null);

  private version = 0;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private readonly pace = new Pace();
  private revision = 0;
  private asking = false;
  private pending = false;
  private tagsAt = 0;
  private tagsLate = false;
  private tagsTimer: ReturnType<typeof setTimeout> | undefined;
  private runsById = new Map<number, Run>();
  private known = new Set<string>();
  private readonly live = new Live(
    apiUrl('events'),
    (version) => this.news(version),
    (open) => (open ? this.back() : this.gone()),
  );

  async start(): Promise<void> {
    await this.loadAll();
    this.live.start();
  }

  run(id: number): Run | undefined {
    return this.runsById.get(id);
  }

  pause(paused: boolean): void {
    this.paused = paused;
    if (paused) return;
    if (this.tagsLate) this.loadTagsSoon();
    this.tagsLate = false;
    void this.refresh();
  }

  /** Asks for everything again: the reload button. */
  async reload(): Promise<void> {
    await this.loadAll();
    this.changed = { version: this.version, tags: null, runs: null };
  }

  private async loadAll(): Promise<void> {
    const [status, runs, tags, people] = await Promise.all([api.status(), api.runs(), api.tags(), api.state()]);
    if (!status.ok || !runs.ok || !tags.ok) {
      for (const reply of [status, runs, tags]) if (!reply.ok) this.problem = reply.error;
      this.gone();
      clearTimeout(this.retry);
      this.retry = setTimeout(() => this.tryNow(), RETRY_MS);
      return;
    }
    this.problem = null;
    this.setStatus(status.value);
    if (people.ok) this.setPeople(people.value);
    this.setRuns(runs.value.runs);
    this.setTags(tags.value.tags);
    this.version = Math.min(status.value.version, runs.value.version, tags.value.version);
    this.ready = true;
    this.lastNews = Date.now();
    this.back();
  }

  /** Asks the server again at once, as it will by itself in a moment. */
  tryNow(): void {
    clearTimeout(this.retry);
    void (this.ready ? this.refresh() : this.loadAll());
  }

  private setStatus(status: Status): void {
    const { isLoading, bytesDone, bytes } = status.loading;
    if (!isLoading) this.pace.forget();
    this.left = isLoading ? this.pace.note(performance.now(), bytesDone, bytes) : null;
    this.status = status;
  }

  private setRuns(logged: Run[]): void {
    const runs = withInherited(logged);
    this.runs = runs;
    this.runsById = new Map(runs.map((run) => [run.id, run]));
  }

  private setTags(tags: Tag[]): void {
    this.tags = tags;
    this.known = new Set(tags.map((tag) => tag.tag));
    this.tagsAt = Date.now();
  }

  private gone(): void {
    if (this.connection === 'lost') return;
    this.connection = 'lost';
    this.lostSince = Date.now();
  }

  private back(): void {
    const was = this.connection;
    this.connection = 'live';
    if (was === 'lost' && this.ready) void this.refresh();
  }

  private news(version: number | undefined): void {
    if (version !== undefined && version <= this.version) return;
    if (this.paused) return;
    void this.refresh(version === undefined);
  }

  private async refresh(unasked = false): Promise<void> {
    if (this.asking) {
      this.pending = true;
      return;
    }
    this.asking = true;
    const reply = await api.changes(this.version);
    this.asking = false;
    if (reply.ok) {
      if (unasked && reply.value.version > this.version) this.live.missed();
      this.back();
      if (!this.paused) this.take(reply.value);
    } else if (reply.error.code === 'offline') this.gone();
    if (this.pending) {
      this.pending = false;
      if (!this.paused) void this.refresh();
    }
  }

  private take(news: Changes): void {
    const status = this.status;
    if (news.version < this.version) {
      // another server: its numbers begin again
      void this.reload();
      return;
    }
    if (status) {
      const wasLoading = status.loading.isLoading;
      this.setStatus({ ...status, version: news.version, loading: news.loading });
      if (wasLoading && !news.loading.isLoading) void this.loadStatus();
    }
    if (news.version === this.version) return;
    this.version = news.version;
    this.lastNews = Date.now();
    this.mergeRuns(news);
    const tags = new Set(news.series.map(([, tag]) => tag));
    let strange = news.more || news.runs.some((run) => !this.hadRun.has(run.id));
    for (const run of news.runs) this.hadRun.add(run.id);
    for (const tag of tags) strange ||= !this.known.has(tag);
    if (strange) this.loadTagsSoon();
    const ids = new Set(news.series.map(([run]) => run));
    this.changed = { version: news.version, tags: news.more ? null : tags, runs: news.more ? null : ids };
  }

  private readonly hadRun = new Set<number>();

  private mergeRuns(news: Changes): void {
    if (news.runs.length === 0) return;
    const fresh = new Map(news.runs.map((run) => [run.id, run]));
    const runs = this.runs.map((run) => {
      const now = fresh.get(run.id);
      fresh.delete(run.id);
      return now ?? run;
    });
    runs.push(...fresh.values());
    this.setRuns(runs);
  }

  private loadTagsSoon(): void {
    if (this.tagsTimer !== undefined) return;
    const wait = Math.max(0, this.tagsAt + TAGS_EVERY_MS - Date.now());
    this.tagsTimer = setTimeout(() => {
      this.tagsTimer = undefined;
      this.tagsLate = this.paused; // then when it ends
      if (this.paused) return;
      void api.tags().then((reply) => reply.ok && this.setTags(reply.value.tags));
      void this.loadStatus();
    }, wait);
  }

  private async loadStatus(): Promise<void> {
    const reply = await api.status();
    if (reply.ok) this.setStatus(reply.value);
  }

  // ---- people's state: names, notes, hidden runs, saved views ----

  private async loadPeople(): Promise<void> {
    const reply = await api.state();
    if (reply.ok) this.setPeople(reply.value);
  }

  private setPeople(people: People): void {
    this.people = people.items;
    this.revision = people.revision;
    this.persistent = people.persistent;
  }

  private keeping: Promise<unknown> = Promise.resolve();

  /** Shown at once; kept by the server if it can, one change after the other. Answers whether it was. */
  remember(items: StateItems): Promise<boolean> {
    this.put(items);
    const kept = this.keeping.then(() => this.keep(items));
    this.keeping = kept;
    return kept;
  }

  /** Onto what is known at this moment: others may have changed other things. */
  private put(items: StateItems): void {
    const next = { ...this.people };
    for (const [key, value] of Object.entries(items)) {
      if (value === null) delete next[key];
      else next[key] = value;
    }
    this.people = next;
  }

  private async keep(items: StateItems): Promise<boolean> {
    let reply = await api.patchState(this.revision, items);
    if (!reply.ok && reply.error.code === '409') {
      await this.loadPeople();
      this.put(items);
      reply = await api.patchState(this.revision, items);
    }
    if (reply.ok) this.revision = reply.value.revision;
    return reply.ok;
  }
}

export const hub = new Hub();
