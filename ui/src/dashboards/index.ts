// The dashboards, in the order of their tabs. A dashboard is a folder and one line here; how to add one is in
// CONTRIBUTING.md.
import type { Dashboard } from '../app/tabs/dashboard';
import { audio } from './audio';
import { customScalars } from './custom_scalars';
import { distributions } from './distributions';
import { graphs } from './graphs';
import { histograms } from './histograms';
import { hparams } from './hparams';
import { images } from './images';
import { mesh } from './mesh';
import { prCurves } from './pr_curves';
import { profile } from './profile';
import { projector } from './projector';
import { text } from './text';
import { timeseries } from './timeseries';

export const DASHBOARDS: readonly Dashboard[] = [
  timeseries,
  images,
  histograms,
  distributions,
  graphs,
  profile,
  hparams,
  projector,
  text,
  audio,
  prCurves,
  customScalars,
  mesh,
];

/**
 * The id of the dashboard for a name in the address. An empty name means the first dashboard; TensorBoard's other names
 * are accepted too.
 */
export function tabOf(name: string): string {
  if (name === '') return DASHBOARDS[0].id;
  return DASHBOARDS.find((d) => d.aliases?.includes(name))?.id ?? name;
}
