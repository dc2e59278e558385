// What the live stream says, and how it is written on the wire.

export interface StreamNews {
  /** The newest version of the store, */
  version?: number;
  /** and the server process whose version it is. */
  instance?: string;
  /** Grows with the news of background jobs and of captures of profilers. */
  jobs?: number;
  open?: boolean;
}

/** One event: `{"version": 12, "instance": "..."}`; anything else is no news. */
export function newsOf(data: string): StreamNews {
  try {
    const read = JSON.parse(data) as StreamNews | number | null;
    if (typeof read === 'number') return { version: read };
    if (typeof read?.version !== 'number') return {};
    const { version, instance, jobs } = read;
    return {
      version,
      instance: typeof instance === 'string' ? instance : undefined,
      jobs: typeof jobs === 'number' ? jobs : undefined,
    };
  } catch {
    return {};
  }
}
