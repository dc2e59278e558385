// Registers the audio dashboard: clips by step, with player, waveform, spectrogram and comparison of two clips.
import type { Dashboard } from '../../public';

export const audio: Dashboard = {
  id: 'audio',
  title: { en: 'Audio', zh: '音频' },
  plugins: ['audio'],
  load: () => import('./View.svelte'),
};
