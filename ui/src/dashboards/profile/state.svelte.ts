// The state of the dashboard: which capture is shown, whether it has been read, and what is in it.
import { untrack } from 'svelte';
import {
  hub,
  LiveQuery,
  settings,
  type Question,
  type ProfileCapture,
  type ProfileCaptures,
  type ProfileFound,
  type ProfileSlice,
  type ProfileStep,
  type ProfileTrack,
  type ProfileTracks,
} from '../../public';
import { kernelName } from './kernelName';
import { coloursFor } from './kinds';
import { Opening } from './opening.svelte';
import { stepNames } from './overview/ranks';
import {
  capturesQuestion,
  namesQuestion,
  searchQuestion,
  sliceQuestion,
  tracksQuestion,
  type Capture,
} from './question';
import { shownName, tt } from './texts';
import { sliceKey, type Hits } from './timeline/paint';
import { profileView as v, type Advice, type Span } from './view.svelte';

const WHILE_READING_MS = 1000;
export const HITS = 500; // slices found at a time

export class ProfileState {
  private readonly list = new LiveQuery<ProfileCaptures>();
  private readonly what = new LiveQuery<ProfileTracks>();
  private readonly allNames = new LiveQuery<readonly string[]>();
  private readonly one = new LiveQuery<ProfileSlice>();
  private readonly found = new LiveQuery<ProfileFound>();
  private ticks = $state(0);
  private wanted = 0; // how many results to move by when the search has been answered
  /** index of the search result that is shown */
  hit = $state(-1);

  // ---- which capture ----

  readonly captures = $derived.by((): readonly ProfileCapture[] => this.list.answer?.captures ?? []);
  readonly isScanning = $derived(this.list.answer?.scanning ?? true);
  /** the capture that is shown while the address names none: it stays when newer ones come */
  private kept = $state('');
  /** The capture that the address names, or else the one that was the newest when the page opened. */
  readonly chosen = $derived.by((): ProfileCapture | undefined => {
    const named = this.captures.find(({ id }) => id === (v.capture || this.kept));
    if (named || v.capture) return named;
    return [...this.captures].sort((a, b) => (b.time ?? 0) - (a.time ?? 0)).at(0);
  });
  readonly id = $derived(this.chosen?.id ?? '');
  private readonly opening = new Opening(() => this.chosen);
  readonly now = $derived(this.opening.now);
  /** Null until it has been read. */
  readonly capture = $derived(this.opening.capture);
  /** The capture that it is compared with. */
  readonly other = $derived(this.captures.find(({ id }) => id === v.other && id !== this.id));
  private readonly openingOther = new Opening(() => (v.page === 'difference' ? this.other : undefined));
  readonly otherNow = $derived(this.openingOther.now);
  readonly otherCapture = $derived(this.openingOther.capture);
  /** Does the address name a capture that does not exist? */
  readonly isGone = $derived(
    v.capture !== '' && this.list.answer !== undefined && !this.isScanning && this.chosen === undefined,
  );

  // ---- what is in it ----

  readonly tracks = $derived.by((): ProfileTracks | null => {
    const reply = this.what.answer;
    return reply && this.capture && this.what.answers(tracksQuestion(this.capture, v.steps)) ? reply : null;
  });
  /** The steps in order of time, each with a name of its own. */
  readonly steps = $derived.by((): readonly ProfileStep[] => {
    const steps = this.tracks?.steps.items ?? [];
    const nameOf = stepNames(steps);
    return steps.map((step) => ({ ...step, name: nameOf(step) }));
  });
  readonly byId = $derived(
    new Map<number, ProfileTrack>(
      this.tracks?.tracks.map((track) => [track.id, { ...track, name: shownName(track.name) }]) ?? [],
    ),
  );
  readonly groupOf = $derived(new Map(this.tracks?.groups.map((group) => [group.id, group]) ?? []));
  readonly names = $derived<readonly string[]>(this.tracks ? (this.allNames.answer ?? []).map(shownName) : []);
  /** The same, as short as slices need them. */
  readonly labels = $derived(this.names.map(kernelName));
  readonly colours = $derived(coloursFor(settings.dark));
  /** The time range of the whole capture, with a margin. */
  readonly whole = $derived.by((): Span => {
    const duration = this.tracks?.durationPs ?? 1;
    return [0, Math.max(duration, 1)];
  });

  /** The details of the selected slice, once the server has answered. */
  readonly slice = $derived.by((): ProfileSlice | null => {
    const reply = this.one.answer;
    return reply && v.slice && reply.track === v.slice[0] && reply.index === v.slice[1] ? reply : null;
  });
  /** Are there results to go through? */
  readonly isSearching = $derived(v.query !== '' || v.advice !== '');
  private readonly search = (of: Capture) =>
    searchQuestion(
      of,
      v.advice
        ? { advice: v.advice, ...(v.steps ? { steps: v.steps } : {}) }
        : { q: v.query, ...(v.inArgs ? { args: 1 } : {}) },
      this.hitPage * HITS,
      HITS,
    );
  readonly hits = $derived.by((): ProfileFound | null => {
    const answer = this.found.answer;
    return answer && this.isSearching && this.capture && this.found.answers(this.search(this.capture)) ? answer : null;
  });
  /** The search results that the canvas marks; null: there is no search. */
  readonly shownHits = $derived.by((): Hits | null => {
    const { hits } = this;
    if (!hits) return null;
    return {
      names: new Set(hits.names.map(([id]) => id)),
      slices: new Set(v.inArgs ? hits.items.map(({ track, index }) => sliceKey(track, index)) : []),
    };
  });
  get sliceTrouble() {
    return this.one.trouble;
  }
  get hitTrouble() {
    return this.isSearching ? this.found.trouble : null;
  }
  get trouble() {
    return this.list.trouble ?? this.opening.trouble ?? this.what.trouble;
  }
  tryNow(): void {
    this.list.tryNow();
    this.opening.tryNow();
    this.what.tryNow();
  }

  /** Does not wait for the capture any longer; the server stops reading it if nobody else waits. */
  stopReading(): void {
    this.opening.stop();
  }
  readAgain(): void {
    this.opening.resume();
  }
  readonly isStopped = $derived(this.opening.isStopped);

  /** To be called in an effect. */
  follow(): void {
    $effect(() => {
      if (!this.isScanning && !v.capture) this.kept = this.id;
    });
    // what is chosen in a capture means nothing in another one: the address that says it also names the capture
    $effect(() => {
      if (!v.capture && this.tracks && v.isOfCapture) v.capture = this.id;
    });
    this.list.follow(
      () => capturesQuestion(`${hub.jobs} ${this.ticks}`),
      () => 100,
    );
    // without a live stream nothing reports the progress of reading, so the list is asked for again; an answer equal to the last one changes nothing
    $effect(() => {
      void this.list.answer;
      void this.ticks;
      if (!this.opening.isReading && !this.openingOther.isReading) return;
      const timer = setTimeout(() => (this.ticks += 1), WHILE_READING_MS);
      return () => clearTimeout(timer);
    });
    this.opening.follow();
    this.openingOther.follow();
    this.ask(this.what, (of) => tracksQuestion(of, v.steps));
    this.ask(this.allNames, (of) => (this.tracks ? namesQuestion(of, this.tracks.names) : null));
    this.ask(this.one, (of) => (v.slice ? sliceQuestion(of, v.slice) : null));
    this.ask(
      this.found,
      (of) => (this.isSearching ? this.search(of) : null),
      () => 120,
    );
    $effect(() => {
      if (this.hits && this.wanted) untrack(() => this.step(this.wanted));
    });
  }
  /** To be called in an effect: follows a question about the capture. */
  ask<T>(query: LiveQuery<T>, question: (of: Capture) => Question<T> | null, settle?: () => number): void {
    this.opening.ask(query, question, settle);
  }

  // ---- what the viewer does ----

  private readonly hitPage = $derived(Math.max(0, Math.floor(this.hit / HITS)));
  find(query: string): void {
    v.query = query;
    v.advice = '';
    this.hit = -1;
  }
  /** Makes the slices that advice was concluded from the results. */
  findEvidence(advice: Advice): void {
    v.query = '';
    v.advice = advice;
    this.hit = -1;
  }
  searchArgs(inArgs: boolean): void {
    v.inArgs = inArgs;
    this.hit = -1;
  }
  /** Moves to the next or the previous search result and wraps around at the end. If the answer is still missing, moves when it comes. */
  step(by: number): void {
    const total = this.hits?.total;
    this.wanted = total === undefined && this.isSearching ? by : 0;
    if (!total) return;
    this.hit = this.hit < 0 ? (by > 0 ? 0 : total - 1) : (this.hit + by + total) % total;
  }
  readonly hitSlice = $derived.by(() =>
    this.hit < 0 ? undefined : this.hits?.items.at(this.hit - this.hitPage * HITS),
  );

  /** What a file of one rank is called: "rank 3", as names of files are long and alike. */
  rankName(source: string, at?: number): string {
    const sources = this.tracks?.sources ?? [];
    const rank = (at === undefined ? sources.find(({ name }) => name === source) : sources.at(at))?.rank ?? null;
    return rank === null ? source : tt('rank', { n: rank });
  }
  groupName(id: number): string {
    const names: string[] = [];
    for (let group = this.groupOf.get(id); group; group = this.groupOf.get(group.parent)) names.unshift(group.name);
    return names.join(' · ');
  }
  trackName(id: number): string {
    const track = this.byId.get(id);
    return track ? `${this.groupName(track.group)} · ${track.name}` : '';
  }
}

/** For a component: follows a question about the capture that is open. */
export function follow<T>(
  profile: () => ProfileState,
  query: LiveQuery<T>,
  question: (of: Capture) => Question<T> | null,
  settle?: () => number,
): void {
  profile().ask(query, question, settle);
}
