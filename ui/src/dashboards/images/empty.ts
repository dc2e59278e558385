// The empty page: what the dashboard shows when nothing was logged for it.
import type { EmptyPage } from '../../public';
import { c, tensorflow, torch } from '../../rooms/empty/samples';

export const empty: EmptyPage = {
  about: {
    en: 'Pictures by step: samples, masks, figures.',
    zh: '按步数显示的图像：样本、掩码、图表。',
  },
  samples: [
    torch('writer.add_image("samples", image, step)'),
    tensorflow('tf.summary.image("samples", images, step=step)'),
    {
      name: 'Keras',
      code: `show = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, _: tf.summary.image("samples", model(x), step=epoch))\nmodel.fit(x, y, epochs=5, callbacks=[show])`,
    },
    c('sb_image(w, "samples", &pixels, step, NULL, NULL);'),
  ],
};
