// Requests the lists of images or clips of series: one request for all series that are missing or have grown. The server
// sends only what is new.
import {
  decodeEntries,
  MEDIA_AT,
  MEDIA_BYTES,
  MEDIA_MAGIC,
  MORE_MEDIA,
  NO_MEDIA,
  ok,
  SAME_MEDIA,
  seriesKey,
  type Outdated,
  type MediaList,
  type Question,
  type SeriesRef,
} from '../../public';
import { Shelf } from './shelf';

/** The lists by seriesKey; series that the server does not have are missing. */
export type Shelves = ReadonlyMap<string, Shelf>;
export type MediaPlugin = 'images' | 'audio';

const LIVE_EVERY_MS = 300;

function decode(body: ArrayBuffer) {
  const at = MEDIA_AT;
  const [f64, u32, u8] = [new Float64Array(0), new Uint32Array(0), new Uint8Array(0)];
  return decodeEntries(body, MEDIA_MAGIC, MEDIA_BYTES, (r, here): MediaList => {
    const points = r.u32(here + at.points);
    const doubles = (field: number) => r.doubles(here + field, points) ?? f64;
    const numbers = (field: number) => r.u32s(here + field, points) ?? u32;
    return {
      run: r.u32(here + at.run),
      flags: r.u32(here + at.flags),
      epoch: r.u64(here + at.epoch),
      n: r.u64(here + at.n),
      points,
      samples: r.u32(here + at.samples),
      step: doubles(at.step),
      wall: doubles(at.wall),
      offset: doubles(at.offset),
      crc: numbers(at.crc),
      count: numbers(at.count),
      bytes: numbers(at.bytes),
      width: numbers(at.width),
      height: numbers(at.height),
      rate: numbers(at.rate),
      frames: numbers(at.frames),
      type: r.bytes(here + at.type, points) ?? u8,
    };
  });
}

export function mediaQuestion(plugin: MediaPlugin, series: readonly SeriesRef[]): Question<Shelves> {
  const stale = (held: Shelves | undefined, outdated: Outdated) =>
    held && outdated !== 'all' ? series.filter((s) => outdated.has(s.run) || !held.has(seriesKey(s))) : series;
  return {
    key: `${plugin}\n\n${series.map(seriesKey).join('\n\n')}`,
    family: plugin,
    depends: {
      plugin,
      tags: [...new Set(series.map(({ tag }) => tag))],
      runs: new Set(series.map(({ run }) => run)),
    },
    every: LIVE_EVERY_MS,
    asks(held, outdated) {
      const wanted = stale(held, outdated).map(({ run, tag }) => {
        const has = held?.get(seriesKey({ run, tag }))?.raw;
        return has ? { run, tag, epoch: has.epoch, n: has.points } : { run, tag };
      });
      return wanted.length ? [{ path: plugin, body: { series: wanted }, as: 'bytes' }] : [];
    },
    take(replies, held, outdated) {
      const now = new Map<string, Shelf>();
      for (const s of series) {
        const shelf = held?.get(seriesKey(s));
        if (shelf) now.set(seriesKey(s), shelf);
      }
      if (replies.length === 0) return ok(now);
      const sent = decode(replies[0] as ArrayBuffer);
      if (!sent.ok) return sent;
      stale(held, outdated).forEach((s, i) => {
        const key = seriesKey(s);
        const entry = sent.value[i];
        const has = held?.get(key);
        if (entry.flags & NO_MEDIA) now.delete(key);
        else if (entry.flags & MORE_MEDIA && has) now.set(key, has.with(entry));
        else if (!(entry.flags & SAME_MEDIA)) now.set(key, new Shelf(s.tag, entry));
      });
      return ok(now);
    },
    rest: (shelves) => new Set([...shelves.values()].filter(({ raw }) => raw.points < raw.n).map(({ raw }) => raw.run)),
    sizeOf: (shelves) => [...shelves.values()].reduce((sum, shelf) => sum + shelf.size, 100),
  };
}
