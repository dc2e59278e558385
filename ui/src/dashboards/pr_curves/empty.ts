// The empty page: what the dashboard shows when nothing was logged for it.
import type { EmptyPage } from '../../public';
import { torch } from '../../rooms/empty/samples';

export const empty: EmptyPage = {
  about: {
    en: 'Precision against recall at each step.',
    zh: '每一步的精确率与召回率。',
  },
  samples: [torch('writer.add_pr_curve("val", labels, scores, step)')],
};
