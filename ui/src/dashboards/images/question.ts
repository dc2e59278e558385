// Which pictures series have: one request for those that are missing or grew, of which the server sends what is new.
import {
  fail,
  IMAGE_AT,
  IMAGE_BYTES,
  IMAGE_MAGIC,
  MORE_IMAGES,
  NO_IMAGES,
  ok,
  openColumns,
  SAME_IMAGES,
  seriesKey,
  type Outdated,
  type Pictures,
  type Question,
} from '../../public';
import { Shelf } from './shelf';

/** By seriesKey; those that the server does not have are not there. */
export type Shelves = ReadonlyMap<string, Shelf>;
export interface SeriesRef {
  run: number;
  tag: string;
}

const LIVE_EVERY_MS = 300;
const PLUGIN = 'images';

function decode(body: ArrayBuffer) {
  const opened = openColumns(body, IMAGE_MAGIC, IMAGE_BYTES);
  if (!opened.ok) return opened;
  const { r, entries } = opened.value;
  const all: Pictures[] = [];
  const at = IMAGE_AT;
  const [f64, u32, u8] = [new Float64Array(0), new Uint32Array(0), new Uint8Array(0)];
  try {
    for (let i = 0; i < entries; i++) {
      const here = 16 + i * IMAGE_BYTES;
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
        width: r.u32s(here + at.width, points) ?? u32,
        height: r.u32s(here + at.height, points) ?? u32,
        bytes: r.u32s(here + at.bytes, points) ?? u32,
        type: r.bytes(here + at.type, points) ?? u8,
      });
    }
  } catch (e) {
    return fail<Pictures[]>('corrupt', e instanceof Error ? e.message : String(e));
  }
  return ok(all);
}

export function imagesQuestion(series: readonly SeriesRef[]): Question<Shelves> {
  const stale = (held: Shelves | undefined, outdated: Outdated) =>
    held && outdated !== 'all' ? series.filter((s) => outdated.has(s.run) || !held.has(seriesKey(s))) : series;
  return {
    key: `images\n\n${series.map(seriesKey).join('\n\n')}`,
    family: 'images',
    depends: {
      plugin: PLUGIN,
      tags: [...new Set(series.map(({ tag }) => tag))],
      runs: new Set(series.map(({ run }) => run)),
    },
    every: LIVE_EVERY_MS,
    asks(held, outdated) {
      const wanted = stale(held, outdated).map(({ run, tag }) => {
        const has = held?.get(seriesKey({ run, tag }))?.raw;
        return has ? { run, tag, epoch: has.epoch, n: has.points } : { run, tag };
      });
      return wanted.length ? [{ path: 'images', body: { series: wanted }, as: 'bytes' }] : [];
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
        if (entry.flags & NO_IMAGES) now.delete(key);
        else if (entry.flags & MORE_IMAGES && has) now.set(key, has.with(entry));
        else if (!(entry.flags & SAME_IMAGES)) now.set(key, new Shelf(s.tag, entry));
      });
      return ok(now);
    },
    sizeOf: (shelves) => [...shelves.values()].reduce((sum, shelf) => sum + shelf.size, 100),
  };
}
