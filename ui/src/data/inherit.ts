// What runs have from their relatives. Keras writes the hyperparameters and the end of a training into run "x" and its
// curves into "x/train" and "x/validation": a run that logged no hyperparameters gets those of its nearest ancestor, and
// a run without news has the state of the training that it belongs to.
import { roleOf, trainingRun } from '../base/names/pairs';
import type { Run } from './types';

const above = (name: string): string => {
  const at = name.lastIndexOf('/');
  return at < 0 ? '.' : name.slice(0, at);
};

export function withInherited(runs: Run[]): Run[] {
  return withStates(withHparams(runs));
}

/** Validation writes once an epoch at most and never says that it ended. */
function withStates(runs: Run[]): Run[] {
  if (!runs.some((run) => run.state === 'stalled')) return runs;
  const named = new Map(runs.map((run) => [run.name, run]));
  return runs.map((run) => {
    if (run.state !== 'stalled' || roleOf(run.name.slice(run.name.lastIndexOf('/') + 1)).role === '') return run;
    const training = named.get(trainingRun(run.name) ?? '');
    const parent = named.get(above(run.name));
    const isTold = (one: Run | undefined) => one && one !== run && one.state !== 'loading' && one.state !== 'stalled';
    const relative = [training, parent].find(isTold);
    return relative ? { ...run, state: relative.state } : run;
  });
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
