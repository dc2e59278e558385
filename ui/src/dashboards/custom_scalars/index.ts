// Registers the custom scalars dashboard: charts of several tags, in a layout that the training program has logged.
import type { Dashboard } from '../../public';

export const customScalars: Dashboard = {
  id: 'custom_scalars',
  title: { en: 'Custom scalars', zh: '自定义标量' },
  plugins: ['custom_scalars'],
};
