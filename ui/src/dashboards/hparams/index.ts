// Registers the hyperparameter dashboard: the hyperparameters of each run beside its results.
import type { Dashboard } from '../../public';

export const hparams: Dashboard = {
  id: 'hparams',
  title: { en: 'HParams', zh: '超参数' },
  plugins: ['hparams'],
};
