// How loud clips are played, so that louder does not win.

/** What is louder than this is turned down to it. */
export const LOUDNESS = -23;

/** How much quieter a clip is played, so that all sound equally loud. */
export function gainOf(loudness: number, match: boolean): number {
  return match && loudness > LOUDNESS ? 10 ** ((LOUDNESS - loudness) / 20) : 1;
}
