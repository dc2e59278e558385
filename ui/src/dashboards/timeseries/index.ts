// Registers the time series dashboard: scalars such as losses and accuracies over steps, as line charts that can be
// zoomed, smoothed and compared.
import type { Dashboard } from '../../public';

export const timeseries: Dashboard = {
  id: 'timeseries',
  title: { en: 'Time series', zh: '时间序列' },
  plugins: ['scalars'],
  aliases: ['scalars'],
  metrics: 'scalars',
  load: () => import('./View.svelte'),
};
