// The empty page: what the dashboard shows when nothing was logged for it.
import type { EmptyPage } from '../../public';
import { c, tensorflow, torch } from '../../rooms/empty/samples';

export const empty: EmptyPage = {
  about: {
    en: 'Sounds by step, with waveform, spectrogram and a comparison of two.',
    zh: '按步数显示的音频：波形、频谱图，以及两个片段的对比。',
  },
  samples: [
    torch('writer.add_audio("voice", sound, step, sample_rate=16000)'),
    tensorflow('tf.summary.audio("voice", sound, 16000, step=step)'),
    c('sb_audio(w, "voice", &sound, 16000, 3, step, NULL);'),
  ],
};
