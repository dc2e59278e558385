// Sounds by step: player, waveform, spectrogram, comparison of two.
import type { Dashboard } from '../../public';

export const audio: Dashboard = {
  id: 'audio',
  title: { en: 'Audio', zh: '音频' },
  plugins: ['audio'],
  empty: () => import('./empty'),
  load: async () => {
    const texts = import('./texts').then((module) => module.texts.load());
    const view = await import('./View.svelte');
    await texts;
    return view;
  },
};
