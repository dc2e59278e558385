import { describe, expect, it } from 'vitest';
import { backoff, retryAfterOf } from './backoff';

describe('backoff', () => {
  it('doubles with every failure, up to half a minute, with jitter of half', () => {
    expect([1, 2, 3, 4].map((n) => backoff(n, undefined, () => 1))).toEqual([500, 1000, 2000, 4000]);
    expect(backoff(1, undefined, () => 0)).toBe(250);
    expect(backoff(1000, undefined, () => 1)).toBe(30_000);
  });
  it('is never shorter than Retry-After, and does not believe a wait of days', () => {
    const busy = { code: 'busy', message: '', retryAfter: 7000 };
    expect(backoff(1, busy, () => 0)).toBe(7000);
    expect(backoff(1, busy, () => 1)).toBeGreaterThan(7000);
    expect(backoff(1, { ...busy, retryAfter: 1e12 }, () => 0)).toBe(300_000);
  });
  it('reads Retry-After as seconds and as a date', () => {
    const now = Date.parse('2026-11-16T07:00:00Z');
    expect(retryAfterOf('3', now)).toBe(3000);
    expect(retryAfterOf('Mon, 16 Nov 2026 07:00:05 GMT', now)).toBe(5000);
    expect(retryAfterOf('Mon, 16 Nov 2026 06:00:05 GMT', now)).toBe(0);
    for (const none of [null, '', 'soon']) expect(retryAfterOf(none, now)).toBeUndefined();
  });
});
