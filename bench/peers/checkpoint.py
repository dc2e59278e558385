"""TensorFlow's checkpoints, and np.savez and safetensors for scale; the work is that of bench_ckpt.c."""

import os
import time

import common

TENSORS, ROUNDS, SCALARS = 8, 4, 20000


def best(run, before=lambda: None, rounds=ROUNDS):
    """Nanoseconds of the fastest round."""
    times = []
    for _ in range(rounds):
        before()
        start = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - start)
    return min(times)


def remove(prefix):
    folder, name = os.path.split(prefix)
    for found in os.listdir(folder):
        if found.startswith(name):
            os.unlink(os.path.join(folder, found))


def main():
    args = common.arguments()
    import numpy as np
    import safetensors.numpy
    import tensorflow as tf

    count = common.scaled(16 << 20, args)
    arrays = [np.arange(count, dtype=np.float32) % 1013 for _ in range(TENSORS)]
    size = sum(array.nbytes for array in arrays)
    work, prefix = "checkpoint, 512 MiB", os.path.join(args.folder, "large")
    large = tf.train.Checkpoint(**{f"t{i}": tf.Variable(array) for i, array in enumerate(arrays)})
    large.write(prefix)  # the first call traces
    common.report("tensorflow", work, "save without fsync", "GB/s", size / best(lambda: large.write(prefix), lambda: remove(prefix)))
    common.report("tensorflow", work, "restore", "GB/s", size / best(lambda: large.read(prefix)))
    remove(prefix)
    path = os.path.join(args.folder, "large.npz")
    named = {f"t{i}": array for i, array in enumerate(arrays)}
    common.report("np.savez", work, "save without fsync", "GB/s", size / best(lambda: np.savez(path, **named), lambda: remove(path), 2))

    def load():
        with np.load(path) as found:
            return [found[name] for name in found.files]

    common.report("np.load", work, "restore", "GB/s", size / best(load, rounds=2))
    remove(path)
    path = os.path.join(args.folder, "large.safetensors")
    common.report("safetensors", work, "save without fsync", "GB/s",
                  size / best(lambda: safetensors.numpy.save_file(named, path), lambda: remove(path), 2))
    common.report("safetensors", work, "restore", "GB/s", size / best(lambda: safetensors.numpy.load_file(path), rounds=2))
    remove(path)
    del large, arrays, named
    work, prefix = "checkpoint, 20 000 scalars", os.path.join(args.folder, "many")
    many = tf.train.Checkpoint(v=[tf.Variable(float(i)) for i in range(common.scaled(SCALARS, args))])
    common.report("tensorflow", work, "save", "ns", best(lambda: many.write(prefix), lambda: remove(prefix), 2))
    common.report("tensorflow", work, "list names", "ns", best(lambda: tf.train.list_variables(prefix)))


main()
