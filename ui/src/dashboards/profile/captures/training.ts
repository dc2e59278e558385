// Captures beside the training that they are of: which run and which of its scalars, and where on the line a capture was made.
import type { ProfileCapture, Run, Tag } from '../../../public';

const has = ({ runs }: Tag, run: number) => runs === 'all' || runs.includes(run);
const scalarsOf = (tags: readonly Tag[], run: number) =>
  tags.filter((tag) => tag.plugin === 'scalars' && has(tag, run)).map(({ tag }) => tag);

/** The run of a capture: the one of its folder, else the nearest one above or below that has scalars. */
export function runOf(folder: string, runs: readonly Run[], tags: readonly Tag[]): Run | undefined {
  const isNear = (name: string) =>
    name === folder || folder === '.' || name === '.' || folder.startsWith(`${name}/`) || name.startsWith(`${folder}/`);
  return runs
    .filter((run) => isNear(run.name) && scalarsOf(tags, run.id).length > 0)
    .sort((a, b) => Math.abs(a.name.length - folder.length) - Math.abs(b.name.length - folder.length))
    .at(0);
}

const LIKED = [/step.*time|time.*step|sec.*step|step.*sec/i, /through?put|per_sec/i, /loss/i];
/** The scalars of a run: those about speed first, then losses. */
export function metricsOf(run: Run, tags: readonly Tag[]): string[] {
  const rank = (tag: string) => {
    const at = LIKED.findIndex((liked) => liked.test(tag));
    return at < 0 ? LIKED.length : at;
  };
  return scalarsOf(tags, run.id).sort((a, b) => rank(a) - rank(b));
}

export interface Dot {
  capture: ProfileCapture;
  at: number; // index of the point that is nearest in time
}
/** Those of the folder's captures whose time is known, on a line whose points were written at `wall`. */
export function dotsOf(captures: readonly ProfileCapture[], folder: string, wall: ArrayLike<number>): Dot[] {
  const nearest = (time: number) => {
    let best = 0;
    for (let i = 1; i < wall.length; i++) if (Math.abs(wall[i] - time) < Math.abs(wall[best] - time)) best = i;
    return best;
  };
  if (wall.length === 0) return [];
  return captures.flatMap((capture) =>
    capture.run === folder && capture.time !== null ? [{ capture, at: nearest(capture.time) }] : [],
  );
}
