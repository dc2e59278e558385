// Registers the projector dashboard: high-dimensional vectors, such as embeddings, as points in space.
import type { Dashboard } from '../../public';

export const projector: Dashboard = {
  id: 'projector',
  title: { en: 'Projector', zh: '嵌入投影' },
  plugins: ['projector'],
  inFiles: { path: 'data/plugin/projector/runs', what: { en: 'embedding', zh: '嵌入' } },
};
