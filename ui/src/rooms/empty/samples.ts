// First lines of the code samples on empty pages, by framework. All samples of a framework share them.
import type { Sample } from '../../public';

const TORCH = 'writer = SummaryWriter("runs/first")\n';
export const TF = 'with tf.summary.create_file_writer("runs/first").as_default():\n    ';
const KERAS_END = '\nmodel.fit(x, y, epochs=5, callbacks=[log])';
export const torch = (code: string): Sample => ({ name: 'PyTorch', code: TORCH + code });
export const tensorflow = (code: string): Sample => ({ name: 'TensorFlow', code: TF + code });
export const keras = (more = ''): Sample => ({
  name: 'Keras',
  code: `log = keras.callbacks.TensorBoard("runs/first"${more})${KERAS_END}`,
});
export const c = (code: string): Sample => ({
  name: 'C',
  code: `sb_writer_open(&w, &SB_INIT(sb_writer_opts, .logdir = "runs/first"), &err);\n${code}`,
});
