// Which pictures or clips series have: one request for those that are missing or grew, of which the server sends what is new.
import {
  fail,
  MEDIA_AT,
  MEDIA_BYTES,
  MEDIA_MAGIC,
  MORE_MEDIA,
  NO_MEDIA,
  ok,
  openColumns,
  SAME_MEDIA,
  seriesKey,
  type Outdated,
  type MediaList,
  type Question,
  type SeriesRef,
} from '../../public';
import { Shelf } from './shelf';

/** By seriesKey; those that the server does not have are not there. */
export type Shelves = ReadonlyMap<string, Shelf>;
export type MediaPlugin = 'images' | 'audio';

const LIVE_EVERY_MS = 300;

function decode(body: ArrayBuffer) {
  const opened = openColumns(body, MEDIA_MAGIC, MEDIA_BYTES);
  if (!opened.ok) return opened;
  const { r, entries } = opened.value;
  const all: MediaList[] = [];
  const at = MEDIA_AT;
  const [f64, u32, u8] = [new Float64Array(0), new Uint32Array(0), new Uint8Array(0)];
  try {
    for (let i = 0; i < entries; i++) {
      const here = 16 + i * MEDIA_BYTES;
      const points = r.u32(here + at.points);
      all.push({
        run: r.u32(here + at.run),
        flags: r.u32(here + at.flags),
        epoch: r.u64(here + at.epoch),
        n: r.u64(here + at.n),
        points,
        samples: r.u32(here + at.samples),
        step: r.doubles(here + at.step, points) ?? f64,
        wall: r.doubles(here + at.wall, points) ?? f64,
        offset: r.doubles(here + at.offset, points) ?? f64,
        crc: r.u32s(here + at.crc, points) ?? u32,
        count: r.u32s(here + at.count, points) ?? u32,
        bytes: r.u32s(here + at.bytes, points) ?? u32,
        width: r.u32s(here + at.width, points) ?? u32,
        height: r.u32s(here + at.height, points) ?? u32,
        rate: r.u32s(here + at.rate, points) ?? u32,
        frames: r.u32s(here + at.frames, points) ?? u32,
        type: r.bytes(here + at.type, points) ?? u8,
      });
    }
  } catch (e) {
    return fail<MediaList[]>('corrupt', e instanceof Error ? e.message : String(e));
  }
  return ok(all);
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
    sizeOf: (shelves) => [...shelves.values()].reduce((sum, shelf) => sum + shelf.size, 100),
  };
}
