// The dashboards, in the order of their tabs. A dashboard is a folder and one line here; it is loaded when opened.
// Those without `load` have no view in this version: their tab is under "More", with the reason.
import type { Component } from 'svelte';
import type { Key } from '../app/en';

export interface Dashboard {
  id: string;
  title: Key;
  plugins: string[]; // whose data it shows
  load?: () => Promise<{ default: Component }>;
}

export const DASHBOARDS: Dashboard[] = [
  { id: 'timeseries', title: 'tab.timeseries', plugins: ['scalars'], load: () => import('./timeseries/View.svelte') },
  { id: 'images', title: 'tab.images', plugins: ['images'] },
  { id: 'histograms', title: 'tab.histograms', plugins: ['histograms'] },
  { id: 'graphs', title: 'tab.graphs', plugins: ['graphs', 'graph_run_metadata', 'graph_keras_model'] },
  { id: 'hparams', title: 'tab.hparams', plugins: ['hparams'] },
  { id: 'projector', title: 'tab.projector', plugins: ['projector'] },
  { id: 'text', title: 'tab.text', plugins: ['text'] },
  { id: 'audio', title: 'tab.audio', plugins: ['audio'] },
  { id: 'pr_curves', title: 'tab.pr_curves', plugins: ['pr_curves'] },
  { id: 'custom_scalars', title: 'tab.custom_scalars', plugins: ['custom_scalars'] },
  { id: 'mesh', title: 'tab.mesh', plugins: ['mesh'] },
];
