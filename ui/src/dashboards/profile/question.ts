// Questions about captures: which there are, what is in one, what the timeline shows of it, its tables.
import {
  ok,
  type Question,
  type ProfileCaptures,
  type ProfileDifference,
  type ProfileDistributed,
  type ProfileFlows,
  type ProfileFound,
  type ProfileInput,
  type ProfileKernels,
  type ProfileMemory,
  type ProfileModules,
  type ProfileNames,
  type ProfileOpened,
  type ProfileOps,
  type ProfileOverview,
  type ProfilePath,
  type ProfileSlice,
  type ProfileTotals,
  type ProfileTracks,
  type ProfileWaits,
} from '../../public';
import { decodeCurves, decodeRects, type Curve, type Rects } from './shared/columns';
import type { SliceId, Span } from './view.svelte';

/** An open capture: its id, and the epoch, which changes with its files. Answers for another epoch are of no use. */
export interface Capture {
  id: string;
  epoch: string;
}

const queryOf = (params: Record<string, string | number>) =>
  new URLSearchParams(Object.entries(params).map(([key, value]) => [key, String(value)])).toString();

function asked<T>(capture: Capture, path: string, sizeOf: (answer: T) => number): Question<T> {
  return {
    key: `${capture.epoch} ${path}`,
    depends: null,
    asks: () => [{ path, as: 'json' }],
    take: ([reply]) => ok(reply as T),
    sizeOf,
  };
}
function posted<T>(capture: Capture, path: string, body: object, sizeOf: (answer: T) => number): Question<T> {
  const whole = { capture: capture.id, ...body };
  return {
    key: `${capture.epoch} ${path} ${JSON.stringify(whole)}`,
    depends: null,
    asks: () => [{ path, body: whole, as: 'json' }],
    take: ([reply]) => ok(reply as T),
    sizeOf,
  };
}
const rowsOf = ({ items }: { items: readonly unknown[] }) => 300 * items.length + 500;

/** `news`: a number that changes when the list may have. */
export const capturesQuestion = (news: string): Question<ProfileCaptures> => ({
  key: `profile/captures ${news}`,
  depends: null,
  asks: () => [{ path: 'profile/captures', as: 'json' }],
  take: ([reply]) => ok(reply as ProfileCaptures),
  sizeOf: ({ captures }) => 600 * captures.length,
});

/** `epoch` and `round` make it another question: of files that changed, or of a capture that must be read again. */
export const openQuestion = (id: string, epoch: string, round: number): Question<ProfileOpened> => ({
  key: `profile/open ${id} ${epoch} ${round}`,
  depends: null,
  asks: () => [{ path: 'profile/open', body: { capture: id }, as: 'json' }],
  take: ([reply]) => ok(reply as ProfileOpened),
  sizeOf: () => 800,
});

export const tracksQuestion = (c: Capture, steps: string): Question<ProfileTracks> =>
  asked(
    c,
    `profile/tracks?${queryOf({ capture: c.id, ...(steps ? { steps } : {}) })}`,
    ({ tracks, steps: { items } }) => 300 * tracks.length + 100 * items.length + 1000,
  );

const NAMES_AT_A_TIME = 4096;
/** All names of slices, by id. */
export const namesQuestion = (c: Capture, total: number): Question<readonly string[]> => ({
  key: `${c.epoch} profile/names ${c.id}`,
  depends: null,
  asks: () =>
    Array.from({ length: Math.ceil(total / NAMES_AT_A_TIME) }, (_, i) => ({
      path: `profile/names?${queryOf({ capture: c.id, from: i * NAMES_AT_A_TIME, n: NAMES_AT_A_TIME })}`,
      as: 'json',
    })),
  take: (replies) => ok((replies as ProfileNames[]).flatMap(({ names }) => names)),
  sizeOf: (names) => names.reduce((n, name) => n + 2 * name.length + 30, 0),
});

/** What was loaded for a time window, by track. Tracks that become visible are added to it. */
export interface Held<T> {
  window: Span;
  pixels: number;
  of: ReadonlyMap<number, T>;
}
function windowed<T extends { track: number }>(
  c: Capture,
  path: string,
  tracks: readonly number[],
  window: Span,
  pixels: number,
  decode: (body: ArrayBuffer) => ReturnType<typeof decodeRects> | ReturnType<typeof decodeCurves>,
  bytes: (one: T) => number,
): Question<Held<T>> {
  const family = `${c.epoch} ${path} ${window.join(' ')} ${pixels}`;
  const missing = (held: Held<T> | undefined) => tracks.filter((track) => !held?.of.has(track));
  return {
    key: `${family} ${tracks.join(' ')}`,
    family,
    depends: null,
    asks(held) {
      const wanted = missing(held);
      const [from, to] = window;
      return wanted.length ? [{ path, body: { capture: c.id, tracks: wanted, from, to, pixels }, as: 'bytes' }] : [];
    },
    take(replies, held) {
      const of = new Map(held?.of);
      if (replies.length) {
        const found = decode(replies[0] as ArrayBuffer);
        if (!found.ok) return found;
        for (const one of found.value as unknown as T[]) of.set(one.track, one);
      }
      return ok({ window, pixels, of });
    },
    sizeOf: ({ of }) => [...of.values()].reduce((n, one) => n + bytes(one), 500),
  };
}
export const rectsQuestion = (c: Capture, tracks: readonly number[], window: Span, pixels: number) =>
  windowed<Rects>(c, 'profile/slices', tracks, window, pixels, decodeRects, ({ n }) => 34 * n + 200);
export const curvesQuestion = (c: Capture, tracks: readonly number[], window: Span, pixels: number) =>
  windowed<Curve>(c, 'profile/counters', tracks, window, pixels, decodeCurves, ({ n }) => 32 * n + 200);

export const sliceQuestion = (c: Capture, [track, index]: SliceId): Question<ProfileSlice> =>
  asked(c, `profile/slice?${queryOf({ capture: c.id, track, index })}`, () => 3000);

export const flowsQuestion = (c: Capture, tracks: readonly number[], [from, to]: Span): Question<ProfileFlows> =>
  posted(c, 'profile/flows', { tracks, from, to, limit: 500 }, ({ flows }) => 100 * flows.length);

export const waitsQuestion = (c: Capture, [from, to]: Span): Question<ProfileWaits> =>
  asked(c, `profile/waits?${queryOf({ capture: c.id, from, to })}`, ({ waits }) => 80 * waits.length + 200);

export interface TotalsAsk {
  tracks?: readonly number[];
  from: number;
  to: number;
  by: string;
  sort?: string;
  descending?: string;
  find?: string;
  offset: number;
  limit: number;
}
export const totalsQuestion = (c: Capture, ask: TotalsAsk): Question<ProfileTotals> =>
  posted<ProfileTotals>(c, 'profile/totals', ask, rowsOf);

export const searchQuestion = (
  c: Capture,
  what: Record<string, string | number>,
  offset: number,
  limit: number,
): Question<ProfileFound> =>
  asked<ProfileFound>(c, `profile/search?${queryOf({ capture: c.id, ...what, offset, limit })}`, rowsOf);

/** The question of a page that needs only one reply: overview, memory, input, modules, distributed. */
const pageOf =
  <T>(name: string, sizeOf: (answer: T) => number) =>
  (c: Capture, params: Record<string, string | number> = {}): Question<T> =>
    asked(c, `profile/${name}?${queryOf({ capture: c.id, ...params })}`, sizeOf);

export const overviewQuestion = pageOf<ProfileOverview>('overview', ({ steps }) => 1000 * steps.items.length + 9000);
export const operatorsQuestion = pageOf<ProfileOps>('operators', rowsOf);
export const kernelsQuestion = pageOf<ProfileKernels>('kernels', rowsOf);
export const memoryQuestion = pageOf<ProfileMemory>(
  'memory',
  ({ times, byOp }) => 24 * times.length + 200 * byOp.length,
);
export const inputQuestion = pageOf<ProfileInput>('input', ({ stages }) => 200 * stages.length + 500);
export const modulesQuestion = pageOf<ProfileModules>('modules', rowsOf);
export const distributedQuestion = pageOf<ProfileDistributed>('distributed', ({ ranks }) => 400 * ranks.length + 2000);
export const pathQuestion = pageOf<ProfilePath>(
  'path',
  ({ pieces, items }) => 80 * pieces.length + 200 * items.length + 500,
);
export const differenceQuestion = pageOf<ProfileDifference>('difference', rowsOf);
