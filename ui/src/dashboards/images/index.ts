// Registers the images dashboard: images by step, such as samples, masks, figures and animations.
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
