// The questions of a card: which clip is at an index (0 being the newest) or nearest to a step, and its picture.
import { ok, toNumber, type Clip, type ClipPicture, type Clips, type Question } from '../../public';
import type { Scale } from './view.svelte';

export interface ClipAsk {
  run: number;
  tag: string;
  sample: number;
  where: { back: number } | { at: number };
}

export interface ClipAnswer {
  ask: ClipAsk;
  total: number;
  index: number; // 0: the newest
  samples: number;
  clip: Clip | null; // null: there is none
}

const LIVE_EVERY_MS = 300;

export function clipQuestion(ask: ClipAsk): Question<ClipAnswer> {
  const { run, tag, sample, where } = ask;
  const query = new URLSearchParams({ run: String(run), tag, count: '1', sample: String(sample) });
  for (const [key, value] of Object.entries(where)) query.set(key, String(value));
  const path = `audio?${query.toString()}`;
  return {
    key: path,
    depends: { plugin: 'audio', tags: [tag], runs: new Set([run]) },
    every: LIVE_EVERY_MS,
    asks: () => [{ path, as: 'json' }],
    take([reply]) {
      const { total, from, samples, points } = reply as Clips;
      return ok({ ask, total, index: total - 1 - from, samples, clip: points.at(0) ?? null });
    },
    sizeOf: () => 400,
  };
}

/** Numbers of a clip and what is drawn of it. */
export interface Drawn {
  trouble?: ClipPicture['trouble'];
  message: string;
  seconds: number;
  rate: number;
  channels: number;
  bits: number;
  isFloat: boolean;
  isCut: boolean;
  peak: number;
  loudness: number;
  clipped: number;
  notFinite: number;
  columns: number;
  rows: number;
  low: Uint8Array;
  high: Uint8Array;
  spectrum: Uint8Array;
}

const bytesOf = (text = ''): Uint8Array => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** `blob`: the path of the clip's bytes, which names them exactly: the picture never gets out of date. */
export function pictureQuestion(blob: string, columns: number, scale: Scale): Question<Drawn> {
  const path = `${blob.replace(/^blob/, 'audio/picture')}&columns=${columns}&rows=96&scale=${scale}`;
  return {
    key: path,
    depends: null,
    asks: () => [{ path, as: 'json' }],
    take([reply]) {
      const p = reply as ClipPicture;
      return ok({
        trouble: p.trouble,
        message: p.message ?? '',
        seconds: p.seconds ?? 0,
        rate: p.rate ?? 0,
        channels: p.channels ?? 0,
        bits: p.bits ?? 0,
        isFloat: p.isFloat ?? false,
        isCut: p.isCut ?? false,
        peak: p.peak ?? 0,
        loudness: toNumber(p.loudness ?? '-Infinity'),
        clipped: p.clipped ?? 0,
        notFinite: p.notFinite ?? 0,
        columns: p.columns ?? 0,
        rows: p.rows ?? 0,
        low: bytesOf(p.low),
        high: bytesOf(p.high),
        spectrum: bytesOf(p.spectrum),
      });
    },
    sizeOf: ({ spectrum, low }) => 500 + spectrum.length + 2 * low.length,
  };
}
