// Names that the server's reader of profiles gives to tracks and slices itself (src/profile), and the keys of their texts
// in the language of the page. What a file names keeps its name.
import type { Key } from './en';

export const OWN_NAMES: ReadonlyMap<string, Key> = new Map([
  ['Idle', 'own.idle'],
  ['marks of the profiler', 'own.marks'],
  ['all other threads', 'own.rest'],
  ['idle: waiting for input', 'own.idleInput'],
  ['idle: compilation', 'own.idleCompile'],
  ['idle: synchronisation', 'own.idleSync'],
  ['idle: kernel launch', 'own.idleLaunch'],
  ['idle: optimizer on the host', 'own.idleOptimizer'],
  ['idle: operators on the host', 'own.idleHost'],
  ['idle: nothing recorded on the host', 'own.idleOther'],
]);
