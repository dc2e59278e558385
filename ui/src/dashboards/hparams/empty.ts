// The empty page: what the dashboard shows when nothing was logged for it.
import type { EmptyPage } from '../../public';
import { TF, torch } from '../../rooms/empty/samples';

export const empty: EmptyPage = {
  about: {
    en: 'Which hyperparameters each run had, beside what came of it.',
    zh: '每个运行的超参数及其结果。',
  },
  samples: [
    torch('writer.add_hparams({"lr": lr, "batch": 64}, {"val/loss": loss})'),
    {
      name: 'TensorFlow',
      code: `from tensorboard.plugins.hparams import api as hp\n${TF}hp.hparams({"lr": lr, "batch": 64})`,
    },
    {
      name: 'Keras',
      code: 'from tensorboard.plugins.hparams import api as hp\nmodel.fit(x, y, callbacks=[hp.KerasCallback("runs/first", {"lr": lr})])',
    },
  ],
};
