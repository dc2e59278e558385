// Inherited hyperparameters: Keras writes those of a training into run "x" and its curves into "x/train" and
// "x/validation", so a run that logged none gets those of its nearest ancestor.
import type { Run } from './types';

const above = (name: string): string => {
  const at = name.lastIndexOf('/');
  return at < 0 ? '.' : name.slice(0, at);
};

export function withInherited(runs: Run[]): Run[] {
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
