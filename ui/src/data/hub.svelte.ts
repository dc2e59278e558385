// What the page knows of the server: status, runs, tags, people's notes; kept up to date by the live stream. Dashboards
// read these lists; points and everything else they ask for through LiveQuery, which the hub tells what grew.
//
// Run ids and versions belong to one server process (`instance`). When another process answers, all that the page holds
// is dropped and loaded anew.
import { backoff } from '../base/backoff';
import { Pace } from '../base/pace';
import type { Problem } from '../base/result';
import { api, apiUrl } from './api';
import { withInherited } from './inherit';
import { hearJobs } from './job.news';
import { Live } from './live';
import { mergeRuns, mergeTags } from './merge';
import { isHidden, isPageOutdated, onShown } from './page';
import { Notes } from './people.svelte';
import { News } from './query/news';
import { queries, type Trouble } from './query/queries.svelte';
import type { StreamNews } from './stream.news';
import type { Changes, Run, StateItems, Status, Tag } from './types';

export type Connection = 'connecting' | 'live' | 'lost';

const LISTS_EVERY_MS = 1000;
/** How long after news of a job the page asks for the status, which counts the captures. */
const STATUS_AFTER_MS = 500;
/** The longest time between two tries while there is no connection. */
const LONGEST_RETRY_MS = 5000;

export class Hub {
  status = $state.raw<Status | null>(null);
  runs = $state.raw<Run[]>([]);
  tags = $state.raw<Tag[]>([]);
  connection = $state<Connection>('connecting');
  lostSince = $state(0);
  lastNews = $state(0);
  paused = $state(false);
  ready = $state(false);
  /** why there is nothing yet; null: nothing is wrong */
  problem = $state.raw<Problem | null>(null);
  /** seconds until the logs are read; null: read, or nobody can tell */
  left = $state<number | null>(null);
  /** This page is from before an upgrade of the server: parts of it can no longer be loaded. */
  isOutdated = $state(false);

  #instance = '';
  #version = 0;
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #retryAt = 0;
  /** the newest version that the stream told of, and whose it is */
  #told: StreamNews = {};
  /** grows with the news of background jobs and of captures of profilers */
  jobs = $state(0);
  #statusTimer: ReturnType<typeof setTimeout> | undefined;
  #isAsking = false;
  #isPending = false;
  #isLoading = false;
  #listsAt = 0;
  #listFailures = 0;
  #listsTimer: ReturnType<typeof setTimeout> | undefined;
  #isListing = false;
  #areListsLate = false;
  /** the versions of the tags and of the status that are held, and the version that both must have */
  #tagsVersion = 0;
  #statusVersion = 0;
  #listsVersion = 0;
  /** news that came while the lists were under way, which may be older */
  private meanwhile: Changes[] = [];
  #runsById = new Map<number, Run>();
  readonly #pace = new Pace();
  readonly #notes = new Notes();
  readonly #ended = new AbortController();
  readonly #live = new Live(
    (news) => this.#hear(news),
    (open) => (open ? this.#reopened() : this.#lose()),
  );

  async start(): Promise<void> {
    onShown(() => this.#catchUp(), this.#ended.signal);
    queries.start();
    queries.onOtherInstance = () => void this.#refresh();
    await this.#loadAll();
    this.#live.start(apiUrl('events'));
  }

  stop(): void {
    this.#ended.abort();
    this.#live.stop();
    clearTimeout(this.#retry);
    clearTimeout(this.#listsTimer);
  }

  run(id: number): Run | undefined {
    return this.#runsById.get(id);
  }

  pause(paused: boolean): void {
    this.paused = paused;
    if (paused) return;
    this.#catchUpLists();
    void this.#refresh();
  }

  /** Asks for everything again: the reload button. */
  async reload(): Promise<void> {
    await this.#loadAll();
    queries.refresh();
  }

  /** Asks the server again at once, as it will by itself in a moment. */
  tryNow(): void {
    clearTimeout(this.#retry);
    this.#retryAt = 0;
    void (this.ready ? this.#refresh() : this.#loadAll());
  }

  /** A part of the page could not be loaded: does the server have another page now? */
  async checkPage(): Promise<boolean> {
    if (this.isOutdated) return true;
    this.#checking ??= isPageOutdated(); // many parts may fail at once
    const isOutdated = await this.#checking;
    this.#checking = null;
    if (isOutdated) this.isOutdated = true;
    return isOutdated;
  }
  #checking: Promise<boolean> | null = null;

  // ---- loading all ----

  async #loadAll(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    const [status, runs, tags, people] = await Promise.all([api.status(), api.runs(), api.tags(), api.state()]);
    this.#isLoading = false;
    if (!status.ok || !runs.ok || !tags.ok) {
      for (const reply of [status, runs, tags]) if (!reply.ok) this.problem = reply.error;
      this.#lose();
      this.#retryLater(this.problem);
      return;
    }
    const { instance } = status.value;
    if (runs.value.instance !== instance || tags.value.instance !== instance) {
      this.#retryLater(null); // restarted between the replies
      return;
    }
    const isOther = this.#instance !== '' && this.#instance !== instance;
    if (isOther && this.status && this.status.program.version !== status.value.program.version) this.isOutdated = true;
    this.problem = null;
    this.#instance = instance;
    this.#setStatus(status.value, status.value.version);
    if (people.ok) this.#notes.set(people.value);
    this.#setRuns(runs.value.runs);
    this.#setTags(tags.value.tags, tags.value.version);
    const versions = [status.value.version, runs.value.version, tags.value.version];
    this.#version = Math.min(...versions);
    if (isOther) this.#listsVersion = 0;
    queries.resume(instance);
    this.ready = true;
    this.#failures = 0;
    this.lastNews = Date.now();
    if (isOther) void this.checkPage();
    this.#back();
    this.#needLists(Math.max(...versions)); // the logs may have grown between the replies
    if (this.#isBehind(this.#told)) void this.#refresh(); // what was told meanwhile may be newer than the replies
  }

  #retryLater(problem: Problem | null): void {
    clearTimeout(this.#retry);
    const wait = backoff(++this.#failures, problem ?? undefined);
    const limit = Math.max(LONGEST_RETRY_MS, problem?.retryAfter ?? 0);
    this.#retryAt = Date.now() + Math.min(wait, limit);
    this.#retry = setTimeout(() => this.tryNow(), this.#retryAt - Date.now());
  }

  #setStatus(status: Status, version: number): void {
    this.#statusVersion = version;
    const { isLoading, bytesDone, bytes } = status.loading;
    if (!isLoading) this.#pace.forget();
    this.left = isLoading ? this.#pace.note(performance.now(), bytesDone, bytes) : null;
    this.status = status;
  }

  #setRuns(logged: Run[]): void {
    const runs = withInherited(logged);
    this.runs = runs;
    this.#runsById = new Map(runs.map((run) => [run.id, run]));
  }

  #setTags(tags: Tag[], version: number): void {
    this.#tagsVersion = version;
    this.tags = tags;
    this.#listsAt = Date.now();
  }

  // ---- the connection ----

  #lose(): void {
    if (this.connection === 'lost') return;
    this.connection = 'lost';
    this.lostSince = Date.now();
  }

  #back(): void {
    const wasLost = this.connection === 'lost';
    this.connection = 'live';
    if (!wasLost) return;
    queries.wake();
    this.#notes.tryNow();
  }

  #reopened(): void {
    const wasLost = this.connection === 'lost';
    this.#back();
    if (wasLost) this.tryNow();
  }

  #catchUp(): void {
    void this.#loadStatus();
    this.#catchUpLists();
    this.tryNow();
  }

  // ---- following ----

  #hear(news: StreamNews): void {
    const isPoll = news.version === undefined;
    if (!isPoll) this.#told = news;
    if (news.jobs !== undefined && news.jobs !== this.jobs) this.#hearJobs(news.jobs);
    const isOther = news.instance !== undefined && news.instance !== this.#instance;
    if (!isOther && (this.paused || !(isPoll || this.#isBehind(news)))) return;
    if (isPoll && Date.now() < this.#retryAt) return; // the next try is scheduled already
    void this.#refresh(isPoll);
  }

  /** Jobs went on, or captures of profilers came or went: the status counts those. */
  #hearJobs(jobs: number): void {
    this.jobs = jobs;
    hearJobs();
    if (this.#statusTimer === undefined) this.#statusTimer = setTimeout(() => void this.#loadStatus(), STATUS_AFTER_MS);
  }
  async #loadStatus(): Promise<void> {
    this.#statusTimer = undefined;
    if (isHidden() || !this.ready) return; // all is asked for when the page is shown
    const reply = await api.status();
    if (reply.ok && reply.value.instance === this.#instance && reply.value.version >= this.#statusVersion)
      this.#setStatus(reply.value, reply.value.version);
  }

  #isBehind({ version = 0, instance = this.#instance }: StreamNews): boolean {
    return instance !== this.#instance || version > this.#version;
  }

  /** Asks what is new, one request at a time; a hidden page does when it is shown. */
  async #refresh(isPoll = false): Promise<void> {
    if (isHidden() || !this.ready) return;
    if (this.#isAsking) {
      this.#isPending = true;
      return;
    }
    this.#isAsking = true;
    const reply = await api.changes(this.#version, this.#instance);
    this.#isAsking = false;
    if (reply.ok) {
      if (isPoll && reply.value.version > this.#version) this.#live.missed();
      this.#failures = 0;
      this.#retryAt = 0;
      clearTimeout(this.#retry);
      this.#back();
      await this.#take(reply.value);
    } else {
      if (reply.error.code === 'offline') this.#lose();
      this.#retryLater(reply.error);
    }
    if (!this.#isPending) return;
    this.#isPending = false;
    if (reply.ok && !this.paused) void this.#refresh();
  }

  async #take(news: Changes): Promise<void> {
    const isOther = news.instance !== this.#instance;
    if (isOther) queries.suspend();
    if (isOther || news.reset) {
      await this.#loadAll();
      if (!isOther) queries.refresh();
      return;
    }
    if (this.paused) return;
    const status = this.status;
    if (status) {
      this.#setStatus({ ...status, version: news.version, loading: news.loading }, this.#statusVersion);
      if (status.loading.isLoading && !news.loading.isLoading) {
        this.#statusVersion = -1; // what was damaged is known now, also where nothing is new
        this.#needLists(news.version);
      }
    }
    if (news.version <= this.#version) return;
    this.#version = news.version;
    this.lastNews = Date.now();
    if (this.#isListing) this.meanwhile.push(news);
    const { tags, isComplete } = mergeTags(this.tags, news, (id) => this.#runsById.has(id));
    if (tags !== this.tags) this.tags = tags;
    const isFromStart = news.since === 0; // then no series are listed: any may have grown or begun
    if (!isComplete || isFromStart || news.gone.length > 0) this.#needLists(news.version);
    const runs = mergeRuns(this.runs, news);
    if (runs !== this.runs) this.#setRuns(runs);
    if (isFromStart) queries.refresh();
    else queries.take(new News(news));
  }

  /** The tags and the status (which counts them) must be of this version, or of a newer one. */
  #needLists(version: number): void {
    this.#listsVersion = Math.max(this.#listsVersion, version);
    this.#loadListsSoon();
  }

  /** Not too often, and one request at a time: of two replies the older one could come last. */
  #loadListsSoon(wait = Math.max(0, this.#listsAt + LISTS_EVERY_MS - Date.now())): void {
    if (Math.min(this.#tagsVersion, this.#statusVersion) >= this.#listsVersion) return;
    if (this.#listsTimer !== undefined || this.#isListing) return;
    this.#listsTimer = setTimeout(() => {
      this.#listsTimer = undefined;
      void this.#loadLists();
    }, wait);
  }

  #catchUpLists(): void {
    if (this.#areListsLate) this.#loadListsSoon();
  }

  async #loadLists(): Promise<void> {
    this.#areListsLate = this.paused || isHidden(); // they are loaded when that ends
    if (this.#areListsLate) return;
    const instance = this.#instance;
    this.#isListing = true;
    this.meanwhile = [];
    const [tags, status] = await Promise.all([api.tags(), api.status()]);
    const { meanwhile } = this;
    this.#isListing = false;
    const failed = [tags, status].find((reply) => !reply.ok);
    if (failed && !failed.ok) return this.#loadListsSoon(backoff(++this.#listFailures, failed.error));
    this.#listFailures = 0;
    // another process answered: all is loaded anew, or will be; loaded anew meanwhile: what is held is newer
    const isWanted = (value: { instance: string; version: number }, held: number) =>
      value.instance === instance && instance === this.#instance && value.version >= held;
    if (tags.ok && isWanted(tags.value, this.#tagsVersion)) {
      const merged = meanwhile.reduce((list, news) => mergeTags(list, news, () => true).tags, tags.value.tags);
      this.#setTags(merged, tags.value.version);
    }
    if (status.ok && isWanted(status.value, this.#statusVersion)) this.#setStatus(status.value, status.value.version);
    this.#loadListsSoon(LISTS_EVERY_MS); // if they are still older than they must be
  }

  // ---- people's state: names, notes, hidden runs, saved views ----

  get people(): StateItems {
    return this.#notes.items;
  }
  get persistent(): boolean {
    return this.#notes.persistent;
  }
  /** Shown at once; answers whether the server kept it. */
  remember(items: StateItems): Promise<boolean> {
    return this.#notes.remember(items);
  }
  /** Why a change of people's state is not kept yet; null: all are. */
  get unkept(): Trouble | null {
    return this.#notes.trouble;
  }
  keepNow(): void {
    this.#notes.tryNow();
  }
}

export const hub = new Hub();
