// The empty page: what the dashboard shows when nothing was logged for it.
import type { EmptyPage } from '../../public';
import { c, keras, tensorflow, torch } from '../../rooms/empty/samples';

export const empty: EmptyPage = {
  about: {
    en: 'Numbers over time, such as losses and accuracies, as lines you can zoom, smooth and compare.',
    zh: '随时间变化的数值（如损失和准确率），以可缩放、平滑和比较的曲线显示。',
  },
  samples: [
    torch('writer.add_scalar("train/loss", loss, step)'),
    tensorflow('tf.summary.scalar("train/loss", loss, step=step)'),
    keras(),
    c('sb_scalar(w, "train/loss", loss, step);'),
  ],
};
