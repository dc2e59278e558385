// Registers the text dashboard: texts by step, rendered as Markdown.
import type { Dashboard } from '../../public';

export const text: Dashboard = {
  id: 'text',
  title: { en: 'Text', zh: '文本' },
  plugins: ['text'],
  load: () => import('./View.svelte'),
};
