import { describe, expect, it, vi } from 'vitest';
import { busyOf, rowsIn, rowsOf, tracksBelow } from './timeline_rows';
import type { ProfileGroup, ProfileTrack } from '../../../public';

vi.mock('../../../public', () => import('../../../base/search'));

const group = (id: number, parent = -1): ProfileGroup => ({
  id,
  parent,
  name: `g${id}`,
  kind: 'host',
  source: 0,
  busy: 0,
  slices: 0,
});
const track = (id: number, of: number, depth = 1, kind: ProfileTrack['kind'] = 'thread'): ProfileTrack => ({
  id,
  group: of,
  name: `t${id}`,
  kind,
  depth,
  slices: 1,
  instants: 0,
  busy: 0,
  startPs: 0,
  endPs: 1,
  least: 0,
  greatest: 1,
});
const GROUPS = [group(0), group(1, 0), group(2)];
const TRACKS = [track(10, 0, 3), track(11, 1), track(12, 2, 1, 'counter')];

describe('rows of the timeline', () => {
  it('follow the tree, tracks before groups, without gaps', () => {
    const { all, height } = rowsOf(GROUPS, TRACKS, new Set(), []);
    expect(all.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      'group 0',
      'track 10',
      'group 1',
      'track 11',
      'group 2',
      'counter 12',
    ]);
    all.forEach((row, i) => expect(row.top).toBe(i ? all[i - 1].top + all[i - 1].height : 0));
    expect(height).toBe(all[5].top + all[5].height);
  });
  it('of a folded group are one', () => {
    const { all } = rowsOf(GROUPS, TRACKS, new Set([0]), []);
    expect(all.map(({ id }) => id)).toEqual([0, 2, 12]);
  });
  it('of pinned tracks are apart, in the order in which they were pinned', () => {
    const { pinned } = rowsOf(GROUPS, TRACKS, new Set([0]), [12, 10, 99]);
    expect(pinned.map(({ id }) => id)).toEqual([12, 10]);
  });
  it('show at most 24 lanes of a track until it is opened', () => {
    const deep = [track(10, 0, 38), track(11, 0, 5000)];
    const lanes = (opened: number[]) =>
      rowsOf(GROUPS, deep, new Set(), [], new Set(opened))
        .all.filter(({ kind }) => kind === 'track')
        .map((row) => row.lanes);
    expect(lanes([])).toEqual([24, 24]);
    expect(lanes([10, 11])).toEqual([38, 256]);
  });
  it('end where a group is its own ancestor', () => {
    const loop = [group(0), { ...group(1, 0) }, { ...group(0, 1) }];
    expect(rowsOf(loop, TRACKS, new Set(), []).all.length).toBeLessThan(8);
  });
  it('are found by a part of the height', () => {
    const { all } = rowsOf(GROUPS, TRACKS, new Set(), []);
    expect(rowsIn(all, all[1].top + 1, all[2].top + 1).map(({ id }) => id)).toEqual([10, 1]);
  });
});

it('tracks below a group are those of its groups too', () => {
  expect(tracksBelow(0, GROUPS, TRACKS).map(({ id }) => id)).toEqual([10, 11]);
});

it('a rank is as busy as its device', () => {
  const rank = group(0);
  const host = { ...group(1, 0), busy: 0.99, slices: 5 };
  const device: ProfileGroup = { ...group(2, 0), kind: 'device', busy: 0.4, slices: 5 };
  expect(busyOf(rank, [rank, host, device])).toBe(0.4);
  expect(busyOf(rank, [rank, host])).toBe(0.99);
  // an XSpace has planes of devices on which nothing was recorded
  expect(busyOf(rank, [rank, host, { ...device, busy: 0, slices: 0 }])).toBe(0.99);
  expect(busyOf(rank, [rank])).toBe(0);
  // torch marks the end of a capture by an instant on a track of its own
  expect(busyOf({ ...rank, slices: 1 }, [rank, host])).toBe(0.99);
  expect(busyOf(host, [rank, host, device])).toBe(0.99);
});
