// Sounds by step: player, waveform, spectrogram, comparison of two.
import type { Dashboard } from '../../public';

export const audio: Dashboard = {
  id: 'audio',
  title: { en: 'Audio', zh: '音频' },
  plugins: ['audio'],
  load: () => import('./View.svelte'),
};
