// The result of a call that can fail: a value, or a problem that can be shown to a person.

export interface Problem {
  code: string;
  message: string;
  /** What the server says beside the code, for a sentence in the reader's language. */
  fault?: unknown;
  /** The same call may succeed later: no connection, a busy server. */
  isTemporary?: boolean;
  /** Milliseconds that the server asks us to wait before the next try. */
  retryAfter?: number;
}
export type Result<T> = { ok: true; value: T } | { ok: false; error: Problem };

export const ok = <T>(value: T): Result<T> => ({ ok: true, value });
export const fail = <T>(code: string, message: string): Result<T> => ({ ok: false, error: { code, message } });
