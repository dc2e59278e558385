// Loudness normalization of clips, so that a listener does not prefer a clip only because it is louder.

/** In LUFS. Clips that are louder are turned down to this loudness; quieter ones are left as they are. */
export const LOUDNESS = -23;

/** The gain of a clip, at most 1. It makes all clips of at least LOUDNESS equally loud. */
export function gainOf(loudness: number, match: boolean): number {
  return match && loudness > LOUDNESS ? 10 ** ((LOUDNESS - loudness) / 20) : 1;
}
