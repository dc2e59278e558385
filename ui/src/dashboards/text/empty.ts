// The empty page: what the dashboard shows when nothing was logged for it.
import type { EmptyPage } from '../../public';
import { c, tensorflow, torch } from '../../rooms/empty/samples';

export const empty: EmptyPage = {
  about: {
    en: 'Texts by step, with Markdown.',
    zh: '按步数显示的文本，支持 Markdown。',
  },
  samples: [
    torch('writer.add_text("prompt", text, step)'),
    tensorflow('tf.summary.text("prompt", text, step=step)'),
    c('sb_text(w, "prompt", text, step);'),
  ],
};
