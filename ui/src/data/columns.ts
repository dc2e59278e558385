// Reads the binary replies of /api/v1 (SBC1: scalar columns, SBB1: bands) without copying: every column is a typed
// array over the body, which is why the server aligns them to eight bytes. Nothing outside the body is ever looked at.
//
//   0 magic | 4 u32 entries | 8 u64 version | 16 entries of 72 (SBC1) or 40 (SBB1) bytes | columns
import { fail, ok, type Result } from '../base/result';

export const NOT_FOUND = 1;
export const UNCHANGED = 2;
export const APPEND = 4;
export const NOT_RISING = 8;
export const RESTARTED = 16;

export interface Series {
  run: number;
  flags: number;
  epoch: number;
  n: number;
  points: number;
  bad: number;
  attempts: number;
  firstWall: number;
  inRange: number;
  step: Float64Array | null;
  wall: Float64Array | null;
  value: Float64Array | null;
  smooth: Float64Array | null;
  flagsOf: Uint8Array | null;
}
export interface Columns {
  version: number;
  series: Series[];
}
export interface Band {
  group: number;
  points: number;
  members: number;
  x: Float64Array;
  centre: Float64Array;
  low: Float64Array;
  high: Float64Array;
  count: Float64Array;
}

const ENTRY = 72;
const BAND = 40;
const LITTLE = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

class Reader {
  readonly view: DataView;
  constructor(readonly body: ArrayBuffer) {
    this.view = new DataView(body);
  }
  u32(at: number): number {
    return this.view.getUint32(at, true);
  }
  u64(at: number): number {
    return this.view.getUint32(at, true) + this.view.getUint32(at + 4, true) * 4294967296;
  }
  /** A column of n doubles; null when there is none, throws when it leaves the body. */
  doubles(at: number, n: number): Float64Array | null {
    const offset = this.u32(at) * 8;
    if (offset === 0) return null;
    if (offset + n * 8 > this.body.byteLength) throw new RangeError('a column leaves the reply');
    if (LITTLE) return new Float64Array(this.body, offset, n);
    const copy = new Float64Array(n);
    for (let i = 0; i < n; i++) copy[i] = this.view.getFloat64(offset + i * 8, true);
    return copy;
  }
  bytes(at: number, n: number): Uint8Array | null {
    const offset = this.u32(at) * 8;
    if (offset === 0) return null;
    if (offset + n > this.body.byteLength) throw new RangeError('a column leaves the reply');
    return new Uint8Array(this.body, offset, n);
  }
}

function open(body: ArrayBuffer, magic: string, entry: number): Result<{ r: Reader; entries: number }> {
  if (body.byteLength < 16) return fail('corrupt', 'the reply is too short');
  const r = new Reader(body);
  for (let i = 0; i < 4; i++)
    if (r.view.getUint8(i) !== magic.charCodeAt(i)) return fail('corrupt', `the reply is not ${magic}`);
  const entries = r.u32(4);
  if (16 + entries * entry > body.byteLength) return fail('corrupt', 'the reply ends within its entries');
  return ok({ r, entries });
}

export function decodeColumns(body: ArrayBuffer): Result<Columns> {
  const opened = open(body, 'SBC1', ENTRY);
  if (!opened.ok) return opened;
  const { r, entries } = opened.value;
  const series: Series[] = new Array<Series>(entries);
  try {
    for (let i = 0; i < entries; i++) {
      const at = 16 + i * ENTRY;
      const points = r.u32(at + 24);
      series[i] = {
        run: r.u32(at),
        flags: r.u32(at + 4),
        epoch: r.u64(at + 8),
        n: r.u64(at + 16),
        points,
        bad: r.u32(at + 28),
        step: r.doubles(at + 32, points),
        wall: r.doubles(at + 36, points),
        value: r.doubles(at + 40, points),
        smooth: r.doubles(at + 44, points),
        flagsOf: r.bytes(at + 48, points),
        attempts: r.u32(at + 52),
        firstWall: r.view.getFloat64(at + 56, true),
        inRange: r.u64(at + 64),
      };
    }
  } catch (e) {
    return fail('corrupt', e instanceof Error ? e.message : String(e));
  }
  return ok({ version: r.u64(8), series });
}

export function decodeBands(body: ArrayBuffer): Result<Band[]> {
  const opened = open(body, 'SBB1', BAND);
  if (!opened.ok) return opened;
  const { r, entries } = opened.value;
  const none = new Float64Array(0);
  const bands: Band[] = [];
  try {
    for (let i = 0; i < entries; i++) {
      const at = 16 + i * BAND;
      const points = r.u32(at + 8);
      bands.push({
        group: r.u32(at),
        points,
        members: r.u32(at + 12),
        x: r.doubles(at + 16, points) ?? none,
        centre: r.doubles(at + 20, points) ?? none,
        low: r.doubles(at + 24, points) ?? none,
        high: r.doubles(at + 28, points) ?? none,
        count: r.doubles(at + 32, points) ?? none,
      });
    }
  } catch (e) {
    return fail('corrupt', e instanceof Error ? e.message : String(e));
  }
  return ok(bands);
}
