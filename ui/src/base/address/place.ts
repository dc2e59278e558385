// The selection on a chart's x axis: one place, or a range between two. An infinite end means the end of the data, so a
// selection that was never moved stays at the newest point. Places are kept by card; the one under '' is for every card
// without a place of its own. This file also reads and writes them in an address: "1000|tag", "200~500|tag", "~|tag".

export interface Place {
  from: number;
  to: number | null; // null: a single place
}
/** null: this card's selection was removed. */
export type Places = ReadonlyMap<string, Place | null>;

export const COMMON = '';
export const LAST: Place = { from: Infinity, to: null };
export const WHOLE: Place = { from: -Infinity, to: Infinity };

export function makePlace(a: number, b: number | null): Place {
  if (b === null) return { from: a, to: null };
  return a <= b ? { from: a, to: b } : { from: b, to: a };
}

/** The same selection as a range; without a second end it reaches to the end of the data. */
export function asRange(place: Place): Place {
  if (place.to !== null) return place;
  return place.from === Infinity ? WHOLE : { from: place.from, to: Infinity };
}

export function asSingle(place: Place): Place {
  if (place.to === null) return place;
  return place.from === -Infinity ? { from: place.to, to: null } : { from: place.from, to: null };
}

/** The part of the selection within the data, which goes from `low` to `high`. */
export function clipPlace(place: Place, [low, high]: readonly [number, number]): Place {
  const clip = (v: number) => Math.min(high, Math.max(low, v));
  return { from: clip(place.from), to: place.to === null ? null : clip(place.to) };
}

const end = (v: number, missing: number) => (v === missing ? '' : String(v));

export function writePlaces(places: Places): string[] {
  return [...places].map(([card, place]) => {
    if (place === null) return `none|${card}`;
    if (place.to === null) return `${end(place.from, Infinity)}|${card}`;
    return `${end(place.from, -Infinity)}~${end(place.to, Infinity)}|${card}`;
  });
}

/** Parts that cannot be read are left out. */
export function readPlaces(items: readonly string[]): Places {
  const places = new Map<string, Place | null>();
  const read = (text: string, missing: number) => (text === '' ? missing : Number(text));
  const isGood = (v: number, missing: number) => Number.isFinite(v) || v === missing;
  for (const item of items) {
    const bar = item.indexOf('|');
    if (bar < 0) continue;
    const text = item.slice(0, bar);
    const card = item.slice(bar + 1);
    if (text === 'none') {
      places.set(card, null);
      continue;
    }
    const ends = text.split('~');
    if (ends.length > 2) continue;
    const from = read(ends[0], ends.length === 2 ? -Infinity : Infinity);
    const to = ends.length === 2 ? read(ends[1], Infinity) : null;
    if (!isGood(from, to === null ? Infinity : -Infinity) || (to !== null && (!isGood(to, Infinity) || to < from)))
      continue;
    places.set(card, { from, to });
  }
  return places;
}
