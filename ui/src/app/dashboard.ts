// What a dashboard tells the shell about itself. It is a folder under src/dashboards with an index.ts that holds this,
// and one line in src/dashboards/index.ts; its code and its texts come when it is opened.
import type { Component } from 'svelte';
import type { Words } from './i18n.svelte';

/** Lines that log what the dashboard shows, in one framework. */
export interface Sample {
  name: string;
  code: string;
}

/** The page of a dashboard that has no data. */
export interface EmptyPage {
  about: Words; // what would be there
  samples: Sample[];
}

export interface Dashboard {
  id: string; // as the address names it
  title: Words;
  plugins: string[]; // whose data it shows
  /** other names of the tab, in TensorBoard's links */
  aliases?: string[];
  /** the plugin whose tags are metrics of a run: columns of the table of runs, sums, details */
  metrics?: string;
  empty: () => Promise<{ empty: EmptyPage }>;
  /** Its view, after its texts. Without it the tab is under "More", with the reason. */
  load?: () => Promise<{ default: Component }>;
}
