// What is said about the run filter: an example that finds something here, and what is wrong with what was typed.
import { t } from '../../texts/i18n.svelte';
import { runs } from '../runs.svelte';

/** A condition over a name that this log has. */
export function example(): string {
  const hparam = runs.hparams.find(({ differs, values }) => differs && values.every((v) => typeof v === 'number'));
  if (hparam) return `${hparam.name}>${hparam.values[0]}`;
  return runs.mainTag ? `min(${runs.mainTag})<0.5` : 'state:running';
}

/** Empty: nothing is wrong. */
export function said(): string {
  if (runs.filterError) return t('filter.bad', { why: runs.filterError });
  const name = runs.unknownNames.at(0);
  if (name === undefined) return '';
  const near = runs.names.near(name);
  return near.length ? t('filter.unknownNear', { name, near: near.join(', ') }) : t('filter.unknown', { name });
}
