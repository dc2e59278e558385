// What the live stream says, and how it is written on the wire.

export interface StreamNews {
  /** The newest version of the store, */
  version?: number;
  /** and the server process whose version it is. */
  instance?: string;
  open?: boolean;
}

/** One event: `{"version": 12, "instance": "..."}`; anything else is no news. */
export function newsOf(data: string): StreamNews {
  try {
    const read = JSON.parse(data) as StreamNews | number | null;
    if (typeof read === 'number') return { version: read };
    if (typeof read?.version !== 'number') return {};
    return { version: read.version, instance: typeof read.instance === 'string' ? read.instance : undefined };
  } catch {
    return {};
  }
}
