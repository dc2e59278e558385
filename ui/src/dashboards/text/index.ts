// Texts by step, with Markdown.
import type { Dashboard } from '../../public';

export const text: Dashboard = {
  id: 'text',
  title: { en: 'Text', zh: '文本' },
  plugins: ['text'],
  load: () => import('./View.svelte'),
};
