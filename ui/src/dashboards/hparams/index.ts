// Which hyperparameters each run had, beside what came of it.
import type { Dashboard } from '../../public';

export const hparams: Dashboard = {
  id: 'hparams',
  title: { en: 'HParams', zh: '超参数' },
  plugins: ['hparams'],
};
