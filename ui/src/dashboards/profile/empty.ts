// What the dashboard shows when there is no capture: the code that makes one, for each framework.
import type { EmptyPage } from '../../public';

export const empty: EmptyPage = {
  about: {
    en: 'Where the time of a training step goes: a timeline of threads and devices, operators, kernels, memory.',
    zh: '训练步骤的时间花在哪里：线程与设备的时间线、算子、内核、显存与内存。',
  },
  samples: [
    {
      name: 'PyTorch',
      code: 'from torch.profiler import profile, schedule, tensorboard_trace_handler\nwith profile(schedule=schedule(wait=1, warmup=1, active=3),\n             on_trace_ready=tensorboard_trace_handler("runs/first"),\n             profile_memory=True, record_shapes=True) as p:\n    for batch in loader:\n        train_step(batch)\n        p.step()',
    },
    {
      name: 'TensorFlow',
      code: 'tf.profiler.experimental.start("runs/first")\nfor step, batch in enumerate(data):\n    with tf.profiler.experimental.Trace("train", step_num=step, _r=1):\n        train_step(batch)\ntf.profiler.experimental.stop()',
    },
    {
      name: 'Keras',
      code: 'keras.callbacks.TensorBoard("runs/first", profile_batch=(10, 20))',
    },
    {
      name: 'JAX',
      code: 'with jax.profiler.trace("runs/first"):\n    for step in range(10):\n        with jax.profiler.StepTraceAnnotation("train", step_num=step):\n            state = train_step(state)\n    jax.block_until_ready(state)',
    },
    {
      name: 'C',
      code: '#include <seaboard/profile.h>\nsb_recorder *r;\nsb_err err;\nsb_recorder_start(&r, NULL, &err);\nuint32_t loop = sb_recorder_track(r, "training"), train = sb_recorder_name(r, "train");\nfor (int64_t step = 0; step < 10; step++) {\n    sb_recorder_step(r, loop, train, step);\n    train_step();\n    sb_recorder_end(r, loop);\n}\nsb_recorder_stop(r, "runs/first", &err);',
    },
  ],
};
