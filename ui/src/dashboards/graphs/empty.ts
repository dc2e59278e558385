// The empty page: what the dashboard shows when nothing was logged for it.
import type { EmptyPage } from '../../public';
import { keras, torch } from '../../rooms/empty/samples';
import Around from './files/Around.svelte';
import { texts } from './texts';

await texts.load();

export const empty: EmptyPage = {
  about: {
    en: 'The model or program as a graph of operations.',
    zh: '以操作图显示的模型或程序。',
  },
  Around,
  samples: [
    torch('writer.add_graph(model, batch)'),
    {
      name: 'TensorFlow',
      code: 'tf.summary.trace_on(graph=True)\ntrain_step(batch)\nwith tf.summary.create_file_writer("runs/first").as_default():\n    tf.summary.trace_export("train_step", step=0)',
    },
    keras(', write_graph=True'),
  ],
};
