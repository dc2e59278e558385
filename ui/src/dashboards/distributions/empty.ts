// The empty page: what the dashboard shows when nothing was logged for it. Distributions are computed from logged
// histograms.
import type { EmptyPage } from '../../public';
import { c, keras, tensorflow, torch } from '../../rooms/empty/samples';

export const empty: EmptyPage = {
  about: {
    en: 'Percentiles of weights, gradients or activations over steps. They are computed from histograms.',
    zh: '权重、梯度或激活值的百分位随步数的变化，由直方图计算得出。',
  },
  samples: [
    torch('writer.add_histogram("conv1/weight", conv1.weight, step)'),
    tensorflow('tf.summary.histogram("conv1/weight", weight, step=step)'),
    keras(', histogram_freq=1'),
    c('sb_histogram(w, "conv1/weight", &values, step, NULL, NULL);'),
  ],
};
