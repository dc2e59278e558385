// The empty page: what the dashboard shows when nothing was logged for it.
import type { EmptyPage } from '../../public';
import { torch } from '../../rooms/empty/samples';

export const empty: EmptyPage = {
  about: {
    en: 'Charts of several tags, laid out by your program.',
    zh: '由程序布局的多标签图表。',
  },
  samples: [torch('writer.add_custom_scalars({"Quality": {"loss": ["Multiline", ["train/loss", "val/loss"]]}})')],
};
