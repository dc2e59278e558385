// The empty page: what the dashboard shows when nothing was logged for it.
import type { EmptyPage } from '../../public';
import { c, keras, tensorflow, torch } from '../../rooms/empty/samples';

export const empty: EmptyPage = {
  about: {
    en: 'How weights, gradients or activations are spread, and how that changes.',
    zh: '权重、梯度或激活值的分布及其变化。',
  },
  samples: [
    torch('writer.add_histogram("conv1/weight", conv1.weight, step)'),
    tensorflow('tf.summary.histogram("conv1/weight", weight, step=step)'),
    keras(', histogram_freq=1'),
    c('sb_histogram(w, "conv1/weight", &values, step, NULL, NULL);'),
  ],
};
