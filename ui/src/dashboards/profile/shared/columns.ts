// Decodes what the timeline draws: rectangles of tracks (SBP1) and values of counters (SBQ1).
import {
  COUNT_AT,
  COUNT_BYTES,
  COUNT_MAGIC,
  decodeEntries,
  SPAN_AT,
  SPAN_BYTES,
  SPAN_MAGIC,
  type Result,
} from '../../../public';

/** Rectangles of a track, sorted by lane, then by start. */
export interface Rects {
  track: number;
  slices: number; // all slices in the window, merged ones too
  n: number;
  lanes: number;
  start: Float64Array;
  duration: Float64Array;
  name: Uint32Array;
  index: Uint32Array;
  depth: Uint8Array;
  kind: Uint8Array;
  count: Uint32Array;
  busy: Float32Array;
}
/** The least, greatest and last value of each pixel. */
export interface Curve {
  track: number;
  n: number;
  time: Float64Array;
  low: Float64Array;
  high: Float64Array;
  last: Float64Array;
}

export function decodeRects(body: ArrayBuffer): Result<Rects[]> {
  return decodeEntries(body, SPAN_MAGIC, SPAN_BYTES, (r, at): Rects => {
    const n = r.u32(at + SPAN_AT.n);
    return {
      track: r.u32(at + SPAN_AT.track),
      slices: r.u64(at + SPAN_AT.slices),
      n,
      lanes: r.u32(at + SPAN_AT.lanes),
      start: r.doubles(at + SPAN_AT.start, n) ?? new Float64Array(n),
      duration: r.doubles(at + SPAN_AT.duration, n) ?? new Float64Array(n),
      name: r.u32s(at + SPAN_AT.name, n) ?? new Uint32Array(n),
      index: r.u32s(at + SPAN_AT.index, n) ?? new Uint32Array(n),
      depth: r.bytes(at + SPAN_AT.depth, n) ?? new Uint8Array(n),
      kind: r.bytes(at + SPAN_AT.kind, n) ?? new Uint8Array(n),
      count: r.u32s(at + SPAN_AT.count, n) ?? new Uint32Array(n),
      busy: r.floats(at + SPAN_AT.busy, n) ?? new Float32Array(n),
    };
  });
}

export function decodeCurves(body: ArrayBuffer): Result<Curve[]> {
  return decodeEntries(body, COUNT_MAGIC, COUNT_BYTES, (r, at): Curve => {
    const n = r.u32(at + COUNT_AT.n);
    return {
      track: r.u32(at + COUNT_AT.track),
      n,
      time: r.doubles(at + COUNT_AT.time, n) ?? new Float64Array(n),
      low: r.doubles(at + COUNT_AT.low, n) ?? new Float64Array(n),
      high: r.doubles(at + COUNT_AT.high, n) ?? new Float64Array(n),
      last: r.doubles(at + COUNT_AT.last, n) ?? new Float64Array(n),
    };
  });
}
