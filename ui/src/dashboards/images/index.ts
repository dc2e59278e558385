// Pictures by step: samples, masks, figures, animations.
import type { Dashboard } from '../../public';

export const images: Dashboard = {
  id: 'images',
  title: { en: 'Images', zh: '图像' },
  plugins: ['images'],
  cards: {
    plugin: 'images',
    title: { en: 'Images', zh: '图像' },
    load: async () => {
      const texts = import('./texts').then((module) => module.texts.load());
      const { kind } = await import('./kind');
      await texts;
      return kind;
    },
  },
  empty: () => import('./empty'),
  load: async () => {
    const texts = import('./texts').then((module) => module.texts.load());
    const view = await import('./View.svelte');
    await texts;
    return view;
  },
};
