// Registers the histogram dashboard: the distribution of weights, gradients or activations, and how it changes over
// steps.
import type { Dashboard } from '../../public';

export const histograms: Dashboard = {
  id: 'histograms',
  title: { en: 'Histograms', zh: '直方图' },
  plugins: ['histograms'],
  cards: {
    plugin: 'histograms',
    title: { en: 'Histograms', zh: '直方图' },
    load: () => import('./kind'),
  },
  load: () => import('./View.svelte'),
};
