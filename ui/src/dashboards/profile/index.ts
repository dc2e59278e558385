// Registers the profile dashboard: captures of profilers as an overview, a timeline and tables.
import type { Dashboard } from '../../public';

export const profile: Dashboard = {
  id: 'profile',
  title: { en: 'Profile', zh: '性能分析' },
  plugins: ['profile'],
  ownPanel: 'always',
  load: () => import('./View.svelte'),
};
