import { describe, expect, it } from 'vitest';
import { decodeBands, decodeColumns } from './columns';

/** One series of n points with three columns, as docs/formats/api-v1.md lays it out. */
function reply(n: number): ArrayBuffer {
  const at = 16 + 88; // a multiple of 8
  const body = new ArrayBuffer(at + 3 * n * 8);
  const v = new DataView(body);
  'SBC1'.split('').forEach((c, i) => v.setUint8(i, c.charCodeAt(0)));
  v.setUint32(4, 1, true);
  v.setBigUint64(8, 812n, true);
  v.setUint32(16, 7, true);
  v.setUint32(20, 8, true);
  v.setBigUint64(24, 5_000_000_000n, true);
  v.setBigUint64(32, 900n, true);
  v.setUint32(40, n, true);
  v.setUint32(44, 1, true);
  v.setUint32(48, at / 8, true);
  v.setUint32(56, at / 8 + n, true);
  v.setUint32(60, at / 8 + 2 * n, true);
  v.setUint32(68, 2, true);
  v.setFloat64(72, 1794740000.5, true);
  v.setBigUint64(80, 900n, true);
  v.setFloat64(88, 40, true);
  v.setUint32(96, at / 8 + n, true);
  for (let i = 0; i < n; i++) {
    v.setFloat64(at + i * 8, i * 10, true);
    v.setFloat64(at + (n + i) * 8, i / 2, true);
    v.setFloat64(at + (2 * n + i) * 8, i / 4, true);
  }
  return body;
}

describe('columns', () => {
  it('are read without a copy', () => {
    const body = reply(3);
    const got = decodeColumns(body);
    expect(got.ok).toBe(true);
    if (!got.ok) return;
    const s = got.value.series[0];
    expect(got.value.version).toBe(812);
    expect([s.run, s.flags, s.epoch, s.n, s.points, s.bad, s.attempts, s.firstWall, s.inRange, s.firstStep]).toEqual([
      7, 8, 5e9, 900, 3, 1, 2, 1794740000.5, 900, 40,
    ]);
    expect([...(s.x ?? [])]).toEqual([0, 0.5, 1]);
    expect([...(s.step ?? [])]).toEqual([0, 10, 20]);
    expect([...(s.value ?? [])]).toEqual([0, 0.5, 1]);
    expect([...(s.smooth ?? [])]).toEqual([0, 0.25, 0.5]);
    expect(s.wall).toBeNull();
    expect(s.value?.buffer).toBe(body);
  });
  it('that end too early are refused at every length', () => {
    const body = reply(2);
    for (let n = 0; n < body.byteLength; n++) expect(decodeColumns(body.slice(0, n)).ok).toBe(false);
  });
  it('of another kind are refused', () => {
    expect(decodeBands(reply(1)).ok).toBe(false);
    expect(decodeColumns(new TextEncoder().encode('{"error":"no such thing"}').buffer as ArrayBuffer).ok).toBe(false);
  });
});
