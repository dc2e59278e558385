// Registers the distributions dashboard: percentiles of weights, gradients or activations over steps, as bands.
import type { Dashboard } from '../../public';

export const distributions: Dashboard = {
  id: 'distributions',
  title: { en: 'Distributions', zh: '分布' },
  plugins: ['histograms'],
  load: () => import('./View.svelte'),
};
