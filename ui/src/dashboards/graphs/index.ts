// Registers the graph dashboard: the model or program as a graph of operations.
import type { Dashboard } from '../../public';

export const graphs: Dashboard = {
  id: 'graphs',
  title: { en: 'Graph', zh: '计算图' },
  plugins: [
    'graphs',
    'graph_run_metadata',
    'graph_run_metadata_graph',
    'graph_keras_model',
    'graph_tagged_run_metadata',
  ],
  ownPanel: 'choice',
  load: () => import('./View.svelte'),
};
