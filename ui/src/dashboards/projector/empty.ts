// The empty page: what the dashboard shows when nothing was logged for it.
import type { EmptyPage } from '../../public';
import { keras, torch } from '../../rooms/empty/samples';

export const empty: EmptyPage = {
  about: {
    en: 'High-dimensional vectors, such as embeddings, as points in space.',
    zh: '高维向量（如嵌入）在空间中的点。',
  },
  samples: [
    torch('writer.add_embedding(vectors, metadata=words, tag="words")'),
    {
      name: 'TensorFlow',
      code: 'tf.train.Checkpoint(words=tf.Variable(vectors)).save("runs/first/words.ckpt")\nprojector.visualize_embeddings("runs/first", config)',
    },
    keras(', embeddings_freq=1, embeddings_metadata="words.tsv"'),
  ],
};
