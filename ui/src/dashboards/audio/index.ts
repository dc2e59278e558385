// Sounds by step.
import type { Dashboard } from '../../public';

export const audio: Dashboard = {
  id: 'audio',
  title: { en: 'Audio', zh: '音频' },
  plugins: ['audio'],
  empty: () => import('./empty'),
};
