// The empty page: what the dashboard shows when nothing was logged for it.
import type { EmptyPage } from '../../public';
import { TF, torch } from '../../rooms/empty/samples';

export const empty: EmptyPage = {
  about: {
    en: 'Point clouds and triangle meshes.',
    zh: '点云与三角网格。',
  },
  samples: [
    torch('writer.add_mesh("body", vertices, colors, faces, global_step=step)'),
    {
      name: 'TensorFlow',
      code: `from tensorboard.plugins.mesh import summary_v2 as mesh\n${TF}mesh.mesh("body", vertices, faces=faces, step=step)`,
    },
  ],
};
