// Registers the mesh dashboard: point clouds and triangle meshes.
import type { Dashboard } from '../../public';

export const mesh: Dashboard = {
  id: 'mesh',
  title: { en: 'Mesh', zh: '网格' },
  plugins: ['mesh'],
};
