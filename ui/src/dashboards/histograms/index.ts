// How weights, gradients or activations are spread, and how that changes.
import type { Dashboard } from '../../public';

export const histograms: Dashboard = {
  id: 'histograms',
  title: { en: 'Histograms', zh: '直方图' },
  plugins: ['histograms'],
  cards: {
    plugin: 'histograms',
    title: { en: 'Histograms', zh: '直方图' },
    load: async () => {
      const texts = import('../../rooms/histograms/texts').then((module) => module.histogramTexts.load());
      const { kind } = await import('./kind');
      await texts;
      return kind;
    },
  },
  empty: () => import('./empty'),
  load: async () => {
    const texts = import('../../rooms/histograms/texts').then((module) => module.histogramTexts.load());
    const view = await import('./View.svelte');
    await texts;
    return view;
  },
};
