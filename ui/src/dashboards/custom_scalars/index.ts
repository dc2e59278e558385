// Charts of several tags, laid out by your program.
import type { Dashboard } from '../../public';

export const customScalars: Dashboard = {
  id: 'custom_scalars',
  title: { en: 'Custom scalars', zh: '自定义标量' },
  plugins: ['custom_scalars'],
};
