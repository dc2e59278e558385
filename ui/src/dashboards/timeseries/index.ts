// Numbers over time, such as losses and accuracies, as lines you can zoom, smooth and compare.
import type { Dashboard } from '../../public';

export const timeseries: Dashboard = {
  id: 'timeseries',
  title: { en: 'Time series', zh: '时间序列' },
  plugins: ['scalars'],
  aliases: ['scalars'],
  metrics: 'scalars',
  load: () => import('./View.svelte'),
};
