// The model or program as a graph of operations.
import type { Dashboard } from '../../public';

export const graphs: Dashboard = {
  id: 'graphs',
  title: { en: 'Graph', zh: '计算图' },
  plugins: ['graphs', 'graph_run_metadata', 'graph_keras_model'],
  empty: () => import('./empty'),
};
