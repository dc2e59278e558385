// Decodes the binary replies of /api/v1 (SBC1: scalar columns, SBB1: bands) without copying: every column is a typed
// array over the body, which is why the server aligns them to eight bytes. Offsets are checked against the body. This is
// done on the page, not in the worker: creating the views costs less than cloning them from one thread to another.
//
//   0 magic | 4 u32 entries | 8 u64 version | 16 entries of one size | columns
import { fail, ok, type Result } from '../base/result';
import {
  BAND_AT,
  BAND_BYTES,
  BAND_MAGIC,
  SCALAR_AT,
  SCALAR_BYTES,
  SCALAR_MAGIC,
  type Band,
  type Series,
} from './types';

export type { Band, Series } from './types';
export { MEMBER_UNSMOOTHED, NO_BASELINE, NO_X, NOT_RISING, UNCOMPARED, UNSMOOTHED } from './types';

export interface Columns {
  version: number;
  series: Series[];
}

const LITTLE = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

export class ColumnReader {
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
  /** Where the column begins that the field at `at` names, of n numbers of `size` bytes; 0 when there is none. Throws when it
   * leaves the body. */
  #columnAt(at: number, n: number, size: number): number {
    const offset = this.u32(at) * 8;
    if (offset && offset + n * size > this.body.byteLength) throw new RangeError('a column leaves the reply');
    return offset;
  }
  doubles(at: number, n: number): Float64Array | null {
    const offset = this.#columnAt(at, n, 8);
    if (!offset) return null;
    if (LITTLE) return new Float64Array(this.body, offset, n);
    return Float64Array.from({ length: n }, (_, i) => this.view.getFloat64(offset + i * 8, true));
  }
  floats(at: number, n: number): Float32Array | null {
    const offset = this.#columnAt(at, n, 4);
    if (!offset) return null;
    if (LITTLE) return new Float32Array(this.body, offset, n);
    return Float32Array.from({ length: n }, (_, i) => this.view.getFloat32(offset + i * 4, true));
  }
  u32s(at: number, n: number): Uint32Array | null {
    const offset = this.#columnAt(at, n, 4);
    if (!offset) return null;
    if (LITTLE) return new Uint32Array(this.body, offset, n);
    return Uint32Array.from({ length: n }, (_, i) => this.u32(offset + i * 4));
  }
  bytes(at: number, n: number): Uint8Array | null {
    const offset = this.#columnAt(at, n, 1);
    return offset ? new Uint8Array(this.body, offset, n) : null;
  }
}

/** The entries of a reply of this kind, each made by `one` from where it begins. */
export function decodeEntries<T>(
  body: ArrayBuffer,
  magic: string,
  bytes: number,
  one: (r: ColumnReader, at: number) => T,
): Result<T[]> {
  if (body.byteLength < 16) return fail('corrupt', 'the reply is too short');
  const r = new ColumnReader(body);
  for (let i = 0; i < 4; i++)
    if (r.view.getUint8(i) !== magic.charCodeAt(i)) return fail('corrupt', `the reply is not ${magic}`);
  const entries = r.u32(4);
  if (16 + entries * bytes > body.byteLength) return fail('corrupt', 'the reply ends within its entries');
  try {
    return ok(Array.from({ length: entries }, (_, i) => one(r, 16 + i * bytes)));
  } catch (e) {
    return fail('corrupt', e instanceof Error ? e.message : String(e));
  }
}

export function decodeColumns(body: ArrayBuffer): Result<Columns> {
  const found = decodeEntries(body, SCALAR_MAGIC, SCALAR_BYTES, (r, at): Series => {
    const points = r.u32(at + SCALAR_AT.points);
    return {
      run: r.u32(at + SCALAR_AT.run),
      flags: r.u32(at + SCALAR_AT.flags),
      epoch: r.u64(at + SCALAR_AT.epoch),
      n: r.u64(at + SCALAR_AT.n),
      points,
      bad: r.u32(at + SCALAR_AT.bad),
      step: r.doubles(at + SCALAR_AT.step, points),
      wall: r.doubles(at + SCALAR_AT.wall, points),
      value: r.doubles(at + SCALAR_AT.value, points),
      smooth: r.doubles(at + SCALAR_AT.smooth, points),
      flagsOf: r.bytes(at + SCALAR_AT.flagsOf, points),
      attempts: r.u32(at + SCALAR_AT.attempts),
      firstWall: r.view.getFloat64(at + SCALAR_AT.firstWall, true),
      inRange: r.u64(at + SCALAR_AT.inRange),
      firstStep: r.view.getFloat64(at + SCALAR_AT.firstStep, true),
      x: r.doubles(at + SCALAR_AT.x, points),
      plus: r.u32(at + SCALAR_AT.plus),
      minus: r.u32(at + SCALAR_AT.minus),
    };
  });
  return found.ok ? ok({ version: new ColumnReader(body).u64(8), series: found.value }) : found;
}

export function decodeBands(body: ArrayBuffer): Result<Band[]> {
  const none = new Float64Array(0);
  return decodeEntries(body, BAND_MAGIC, BAND_BYTES, (r, at): Band => {
    const points = r.u32(at + BAND_AT.points);
    return {
      group: r.u32(at + BAND_AT.group),
      flags: r.u32(at + BAND_AT.flags),
      points,
      members: r.u32(at + BAND_AT.members),
      x: r.doubles(at + BAND_AT.x, points) ?? none,
      centre: r.doubles(at + BAND_AT.centre, points) ?? none,
      low: r.doubles(at + BAND_AT.low, points) ?? none,
      high: r.doubles(at + BAND_AT.high, points) ?? none,
      count: r.doubles(at + BAND_AT.count, points) ?? none,
      inner: r.doubles(at + BAND_AT.inner, 2 * points) ?? none,
    };
  });
}
