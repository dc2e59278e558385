// The dashboards as the shell sees them: which have a tab, which shows a plugin, which plugins have numbers of runs.
import type { Component } from 'svelte';
import { DASHBOARDS } from '../../dashboards';
import { hub } from '../../data/hub.svelte';
import type { Tag } from '../../data/types';
import { settings } from '../settings.svelte';
import { fetchAhead } from './ahead';
import type { Dashboard } from './dashboard';
import { inFiles } from './infiles.svelte';
import { withOwnTexts, withPartTexts } from '../texts/i18n.svelte';
import { view } from '../view/view.svelte';

/** How many tags a dashboard has to show. */
export const sizeOf = (d: Dashboard): number =>
  d.plugins.reduce((n, plugin) => n + (hub.status?.plugins[plugin] ?? 0), 0) + inFiles.runsOf(d).length;

/** Whether the panel at the left is the dashboard's own now: without data it shows the runs. */
export const hasOwnPanel = (d: Dashboard | undefined): boolean =>
  d?.ownPanel !== undefined && sizeOf(d) > 0 && (d.ownPanel === 'always' || settings.ownPanel);

/** Shows the runs: in the panel at the left, or as the full table where that panel is always the dashboard's own. */
export function showRuns(d: Dashboard | undefined): void {
  if (d?.ownPanel === 'choice') settings.ownPanel = false;
  if (hasOwnPanel(d)) view.tableFull = true;
  else settings.panelOpen = true;
}

/** Those with data, the first one, and the one that is open. */
export const tabs = (): Dashboard[] =>
  DASHBOARDS.filter((d, i) => i === 0 || (d.load && sizeOf(d) > 0) || d.id === view.tab);

/** The dashboard with a view that shows this plugin. */
export const dashboardOf = (plugin: string): Dashboard | undefined =>
  DASHBOARDS.find((d) => d.load && d.plugins.includes(plugin));

/** The view of a dashboard whose code is here. */
export interface LoadedView {
  tab: string;
  view: Component;
}

type Load = NonNullable<Dashboard['load']>;
/** The code of a dashboard with all texts that it needs: the first one is part of the first page and needs no others. */
export const codeOf = (d: Dashboard | undefined): Load | undefined => {
  const load = d?.load;
  if (!load) return undefined;
  if (d === DASHBOARDS[0]) return () => withOwnTexts(load);
  return () => {
    fetchAhead(d.id);
    return withPartTexts(load);
  };
};

const METRICS = new Set(DASHBOARDS.flatMap((d) => d.metrics ?? []));
/** Tags that have numbers of runs: what the table of runs can have columns of. */
export const metricTags = (): Tag[] => hub.tags.filter((tag) => METRICS.has(tag.plugin));
