// What runs have from their relatives. Keras writes the hyperparameters and the end of a training into run "x" and its
// curves into "x/train" and "x/validation": a run that logged no hyperparameters gets those of its nearest ancestor, and
// a run of validation without news has the state of the training that it belongs to.
import { roleOf, trainingRun } from '../base/names/pairs';
import type { Run } from './types';

const above = (name: string): string => {
  const at = name.lastIndexOf('/');
  return at < 0 ? '.' : name.slice(0, at);
};

export function withInherited(runs: Run[]): Run[] {
  return withStates(withHparams(runs));
}

/** Validation writes once an epoch at most and never says that it ended: without news, or when the training that ended wrote last, it
 * has the state of the training. */
function withStates(runs: Run[]): Run[] {
  const named = new Map(runs.map((run) => [run.name, run]));
  let isOther = false;
  const found = runs.map((run) => {
    if (run.state !== 'stalled' && run.state !== 'running') return run;
    if (roleOf(run.name.slice(run.name.lastIndexOf('/') + 1)).role === '') return run;
    const isTold = (one: Run | undefined): one is Run =>
      one !== undefined && one !== run && one.state !== 'loading' && one.state !== 'stalled';
    const relative = [named.get(trainingRun(run.name) ?? ''), named.get(above(run.name))].find(isTold);
    if (!relative || relative.state === run.state) return run;
    const hasNews =
      run.state === 'running' && !(relative.last !== null && run.last !== null && relative.last >= run.last);
    if (hasNews) return run;
    isOther = true;
    return { ...run, state: relative.state };
  });
  return isOther ? found : runs;
}

function withHparams(runs: Run[]): Run[] {
  const known = new Map<string, Run['hparams']>();
  for (const run of runs) if (run.hparams) known.set(run.name, run.hparams);
  if (known.size === 0) return runs;
  return runs.map((run) => {
    if (run.hparams || run.name === '.') return run;
    for (let name = above(run.name); ; name = above(name)) {
      const hparams = known.get(name);
      if (hparams) return { ...run, hparams };
      if (name === '.') return run;
    }
  });
}
