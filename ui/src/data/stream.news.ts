// What the live stream tells, and how it is written on the wire.

export interface StreamNews {
  version?: number;
  open?: boolean;
}

/** The newest version; the number alone, or in an object. */
export function versionOf(data: string): number | undefined {
  const read: unknown = JSON.parse(data);
  const version = typeof read === 'object' && read !== null ? (read as StreamNews).version : read;
  return typeof version === 'number' ? version : undefined;
}
