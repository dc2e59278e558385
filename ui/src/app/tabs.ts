// Which dashboards have a tab: those with data, the first one, and the one that is open.
import { DASHBOARDS, type Dashboard } from '../dashboards';
import { hub } from '../data/hub.svelte';
import { view } from './view.svelte';

/** How many tags a dashboard has to show. */
export const sizeOf = (d: Dashboard): number =>
  d.plugins.reduce((n, plugin) => n + (hub.status?.plugins[plugin] ?? 0), 0);

export const tabs = (): Dashboard[] =>
  DASHBOARDS.filter((d) => (d.load && sizeOf(d) > 0) || d.id === 'timeseries' || d.id === view.tab);
