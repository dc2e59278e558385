// The lines that log what each dashboard shows, by framework: for pages that have nothing to show yet.

export interface Sample {
  name: string;
  code: string;
}

const TORCH = 'writer = SummaryWriter("runs/first")\n';
const TF = 'with tf.summary.create_file_writer("runs/first").as_default():\n    ';
const KERAS_END = '\nmodel.fit(x, y, epochs=5, callbacks=[log])';
const torch = (code: string): Sample => ({ name: 'PyTorch', code: TORCH + code });
const tensorflow = (code: string): Sample => ({ name: 'TensorFlow', code: TF + code });
const keras = (more = ''): Sample => ({
  name: 'Keras',
  code: `log = keras.callbacks.TensorBoard("runs/first"${more})${KERAS_END}`,
});
const c = (code: string): Sample => ({
  name: 'C',
  code: `sb_writer_open(&w, &SB_INIT(sb_writer_opts, .logdir = "runs/first"), &err);\n${code}`,
});

export const SAMPLES: Record<string, Sample[]> = {
  timeseries: [
    torch('writer.add_scalar("train/loss", loss, step)'),
    tensorflow('tf.summary.scalar("train/loss", loss, step=step)'),
    keras(),
    c('sb_scalar(w, "train/loss", loss, step);'),
  ],
  images: [
    torch('writer.add_image("samples", image, step)'),
    tensorflow('tf.summary.image("samples", images, step=step)'),
    {
      name: 'Keras',
      code: `show = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, _: tf.summary.image("samples", model(x), step=epoch))\nmodel.fit(x, y, epochs=5, callbacks=[show])`,
    },
    c('sb_image(w, "samples", &pixels, step, NULL, NULL);'),
  ],
  histograms: [
    torch('writer.add_histogram("conv1/weight", conv1.weight, step)'),
    tensorflow('tf.summary.histogram("conv1/weight", weight, step=step)'),
    keras(', histogram_freq=1'),
    c('sb_histogram(w, "conv1/weight", &values, step, NULL, NULL);'),
  ],
  graphs: [
    torch('writer.add_graph(model, batch)'),
    {
      name: 'TensorFlow',
      code: 'tf.summary.trace_on(graph=True)\ntrain_step(batch)\nwith tf.summary.create_file_writer("runs/first").as_default():\n    tf.summary.trace_export("train_step", step=0)',
    },
    keras(', write_graph=True'),
  ],
  hparams: [
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
  projector: [
    torch('writer.add_embedding(vectors, metadata=words, tag="words")'),
    {
      name: 'TensorFlow',
      code: 'tf.train.Checkpoint(words=tf.Variable(vectors)).save("runs/first/words.ckpt")\nprojector.visualize_embeddings("runs/first", config)',
    },
    keras(', embeddings_freq=1, embeddings_metadata="words.tsv"'),
  ],
  text: [
    torch('writer.add_text("prompt", text, step)'),
    tensorflow('tf.summary.text("prompt", text, step=step)'),
    c('sb_text(w, "prompt", text, step);'),
  ],
  audio: [
    torch('writer.add_audio("voice", sound, step, sample_rate=16000)'),
    tensorflow('tf.summary.audio("voice", sound, 16000, step=step)'),
  ],
  pr_curves: [torch('writer.add_pr_curve("val", labels, scores, step)')],
  custom_scalars: [
    torch('writer.add_custom_scalars({"Quality": {"loss": ["Multiline", ["train/loss", "val/loss"]]}})'),
  ],
  mesh: [
    torch('writer.add_mesh("body", vertices, colors, faces, global_step=step)'),
    {
      name: 'TensorFlow',
      code: `from tensorboard.plugins.mesh import summary_v2 as mesh\n${TF}mesh.mesh("body", vertices, faces=faces, step=step)`,
    },
  ],
};
