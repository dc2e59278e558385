// How long to wait before a failed call is tried again: exponential back-off with jitter, so that many cards (and many
// pages) do not all come back in the same instant; never earlier than the server's Retry-After.
import type { Problem } from './result';

const FIRST_MS = 500;
const LONGEST_MS = 30_000;
/** A longer Retry-After is not believed. */
const LONGEST_RETRY_AFTER_MS = 5 * 60_000;

/** Milliseconds until the next try after so many failures in a row (1 or more). */
export function backoff(failures: number, problem?: Problem, random = Math.random): number {
  const step = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 10));
  const jittered = step * (0.5 + random() / 2);
  if (problem?.retryAfter === undefined) return jittered;
  const asked = Math.min(problem.retryAfter, LONGEST_RETRY_AFTER_MS);
  return Math.max(jittered, asked + (random() * FIRST_MS) / 2);
}

/** The value of a Retry-After header in milliseconds: seconds, or a date. */
export function retryAfterOf(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === '') return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
