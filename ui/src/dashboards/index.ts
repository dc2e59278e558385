// The dashboards, in the order of their tabs. A dashboard is a folder and one line here; it is loaded when opened.
// Those without `load` have no view in this version: their tab is under "More", with the reason.
import type { Component } from 'svelte';
import type { Key } from '../app/en';

export interface Dashboard {
  id: string;
  title: Key;
  about: Key; // what would be there, for a page without data
  plugins: string[]; // whose data it shows
  load?: () => Promise<{ default: Component }>;
}

export const DASHBOARDS: Dashboard[] = [
  {
    id: 'timeseries',
    title: 'tab.timeseries',
    about: 'about.timeseries',
    plugins: ['scalars'],
    load: () => import('./timeseries/View.svelte'),
  },
  { id: 'images', title: 'tab.images', about: 'about.images', plugins: ['images'] },
  { id: 'histograms', title: 'tab.histograms', about: 'about.histograms', plugins: ['histograms'] },
  {
    id: 'graphs',
    title: 'tab.graphs',
    about: 'about.graphs',
    plugins: ['graphs', 'graph_run_metadata', 'graph_keras_model'],
  },
  { id: 'hparams', title: 'tab.hparams', about: 'about.hparams', plugins: ['hparams'] },
  { id: 'projector', title: 'tab.projector', about: 'about.projector', plugins: ['projector'] },
  { id: 'text', title: 'tab.text', about: 'about.text', plugins: ['text'] },
  { id: 'audio', title: 'tab.audio', about: 'about.audio', plugins: ['audio'] },
  { id: 'pr_curves', title: 'tab.pr_curves', about: 'about.pr_curves', plugins: ['pr_curves'] },
  { id: 'custom_scalars', title: 'tab.custom_scalars', about: 'about.custom_scalars', plugins: ['custom_scalars'] },
  { id: 'mesh', title: 'tab.mesh', about: 'about.mesh', plugins: ['mesh'] },
];
