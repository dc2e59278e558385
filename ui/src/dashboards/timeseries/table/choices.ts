// The columns that the tables below charts can have, as the pickers list them.
import { runs, t, type ColumnChoice } from '../../../public';
import { hparamOf, isHparam, notChosen, type Kind } from './columns';
import type { Key } from '../texts';
import { tt } from '../texts';

export function choiceOf(id: string): ColumnChoice {
  if (!isHparam(id)) return { id, text: tt(`table.${id}` as Key) };
  const name = hparamOf(id);
  const differs = runs.hparams.some((h) => h.name === name && h.differs);
  return { id, text: name, note: `${t('columns.hparam')}${differs ? ` · ${t('runs.differs')}` : ''}` };
}

/** All columns that are not chosen; hyperparameters come last. */
export const otherColumns = (kind: Kind, chosen: readonly string[]): string[] =>
  notChosen(
    kind,
    chosen,
    runs.hparams.map((h) => h.name),
  );
