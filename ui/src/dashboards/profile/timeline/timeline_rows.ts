// The rows of the timeline from top to bottom: pinned tracks, then groups with their tracks. Folded groups are one row.
import { partitionPoint, type ProfileGroup, type ProfileTrack } from '../../../public';

export const LANE = 18;
export const PAD = 3;
export const GROUP = 28;
export const COUNTER = 40;
export const LEAST_ROW = 24;
/** A row shows at most so many lanes until it is opened. */
export const MOST_LANES = 24;
/** The server sends all lanes below this one as one. */
const ALL_LANES = 256;

export interface Row {
  kind: 'group' | 'track' | 'counter';
  top: number;
  height: number;
  id: number; // of the group or track
  level: number; // how deep in the tree
  pinned: boolean;
  lanes: number; // how many lanes it shows; 0: a group or a counter
}
export interface Rows {
  all: readonly Row[];
  height: number;
  /** those of pinned tracks, which stay in sight */
  pinned: readonly Row[];
  pinnedHeight: number;
}

/** How many lanes a row shows: a deep track has all of them once it is opened. */
const lanesOf = ({ kind, depth }: ProfileTrack, isOpen: boolean): number =>
  kind === 'counter' ? 0 : Math.min(Math.max(depth, 1), isOpen ? ALL_LANES : MOST_LANES);

export function rowsOf(
  groups: readonly ProfileGroup[],
  tracks: readonly ProfileTrack[],
  folded: ReadonlySet<number>,
  pins: readonly number[],
  opened: ReadonlySet<number> = new Set(),
): Rows {
  const children = new Map<number, ProfileGroup[]>();
  for (const group of groups) {
    const list = children.get(group.parent);
    if (list) list.push(group);
    else children.set(group.parent, [group]);
  }
  const inGroup = new Map<number, ProfileTrack[]>();
  const byId = new Map<number, ProfileTrack>();
  for (const track of tracks) {
    byId.set(track.id, track);
    const list = inGroup.get(track.group);
    if (list) list.push(track);
    else inGroup.set(track.group, [track]);
  }
  const add = (list: Row[], top: number, track: ProfileTrack, level: number, pinned: boolean): number => {
    const lanes = lanesOf(track, opened.has(track.id));
    const height = lanes ? Math.max(LEAST_ROW, lanes * LANE + 2 * PAD) : COUNTER;
    list.push({ kind: lanes ? 'track' : 'counter', top, height, id: track.id, level, pinned, lanes });
    return top + height;
  };

  const pinned: Row[] = [];
  let pinnedHeight = 0;
  for (const id of pins) {
    const track = byId.get(id);
    if (track) pinnedHeight = add(pinned, pinnedHeight, track, 0, true);
  }
  const all: Row[] = [];
  let top = 0;
  const seen = new Set<number>(); // a group that is its own ancestor is shown once
  const walk = (group: ProfileGroup, level: number) => {
    if (seen.has(group.id)) return;
    seen.add(group.id);
    all.push({ kind: 'group', top, height: GROUP, id: group.id, level, pinned: false, lanes: 0 });
    top += GROUP;
    if (folded.has(group.id)) return;
    for (const track of inGroup.get(group.id) ?? []) top = add(all, top, track, level + 1, false);
    for (const child of children.get(group.id) ?? []) walk(child, level + 1);
  };
  for (const group of children.get(-1) ?? []) walk(group, 0);
  return { all, height: top, pinned, pinnedHeight };
}

/** Tracks below a group, also those of its groups. */
export function tracksBelow(
  id: number,
  groups: readonly ProfileGroup[],
  tracks: readonly ProfileTrack[],
): ProfileTrack[] {
  const below = new Set([id]);
  for (let n = 0; n !== below.size;) {
    n = below.size;
    for (const group of groups) if (below.has(group.parent)) below.add(group.id);
  }
  return tracks.filter(({ group }) => below.has(group));
}

/** Rows that touch a part of the height. */
export function rowsIn(rows: readonly Row[], from: number, to: number): Row[] {
  const first = partitionPoint(0, rows.length, (i) => rows[i].top + rows[i].height <= from);
  const found: Row[] = [];
  for (let i = first; i < rows.length && rows[i].top < to; i++) found.push(rows[i]);
  return found;
}

/** How busy a group is. One whose own tracks have no more than instants, such as a rank, is as busy as its devices; without a device, as the
 * busiest group in it. */
export function busyOf(group: ProfileGroup, groups: readonly ProfileGroup[]): number {
  if (group.busy > 0) return group.busy;
  const inside = groups.filter(({ parent, id }) => parent === group.id && id !== group.id);
  const devices = inside.filter(({ kind, slices }) => kind === 'device' && slices > 0);
  return Math.max(0, ...(devices.length ? devices : inside).map(({ busy }) => busy));
}
