// Texts by step, with Markdown.
import type { Dashboard } from '../../public';

export const text: Dashboard = {
  id: 'text',
  title: { en: 'Text', zh: '文本' },
  plugins: ['text'],
  empty: () => import('./empty'),
  load: async () => {
    const texts = import('./texts').then((module) => module.texts.load());
    const view = await import('./View.svelte');
    await texts;
    return view;
  },
};
