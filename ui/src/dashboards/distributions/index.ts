// Percentiles of weights, gradients or activations over steps, as bands.
import type { Dashboard } from '../../public';

export const distributions: Dashboard = {
  id: 'distributions',
  title: { en: 'Distributions', zh: '分布' },
  plugins: ['histograms'],
  empty: () => import('./empty'),
  load: async () => {
    const texts = import('../../rooms/histograms/texts').then((module) => module.histogramTexts.load());
    const view = await import('./View.svelte');
    await texts;
    return view;
  },
};
