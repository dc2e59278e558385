// Registers the PR curve dashboard: precision against recall at each step.
import type { Dashboard } from '../../public';

export const prCurves: Dashboard = {
  id: 'pr_curves',
  title: { en: 'PR curves', zh: 'PR 曲线' },
  plugins: ['pr_curves'],
};
