// Pictures by step: samples, masks, figures, animations.
import type { Dashboard } from '../../public';

export const images: Dashboard = {
  id: 'images',
  title: { en: 'Images', zh: '图像' },
  plugins: ['images'],
  cards: {
    plugin: 'images',
    title: { en: 'Images', zh: '图像' },
    load: () => import('./kind'),
  },
  load: () => import('./View.svelte'),
};
