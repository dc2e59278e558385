// Pictures by step: samples, masks, figures.
import type { Dashboard } from '../../public';

export const images: Dashboard = {
  id: 'images',
  title: { en: 'Images', zh: '图像' },
  plugins: ['images'],
  empty: () => import('./empty'),
};
