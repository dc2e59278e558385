// How weights, gradients or activations are spread, and how that changes.
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
