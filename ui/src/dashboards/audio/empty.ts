// The page of this dashboard when nothing was logged for it.
import type { EmptyPage } from '../../public';
import { tensorflow, torch } from '../../rooms/empty/samples';

export const empty: EmptyPage = {
  about: {
    en: 'Sounds by step.',
    zh: '按步数显示的音频。',
  },
  samples: [
    torch('writer.add_audio("voice", sound, step, sample_rate=16000)'),
    tensorflow('tf.summary.audio("voice", sound, 16000, step=step)'),
  ],
};
