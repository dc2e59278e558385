"""Writes the inputs of the benchmarks into a folder, once: they are the same for everybody.

image.raw          a 256 x 256 x 3 picture: gradients with a little noise
values.raw         10 000 floats, normally distributed
scalars.tfevents   400 000 scalar events as tf.summary writes them (a tensor and metadata in each), 100 tags
few.tfevents       the first 40 000 of them, for the readers that take a second for that
"""

import os
import random

import common


def event(event_pb2, tensor_pb2, types_pb2, step, tag, value):
    made = event_pb2.Event(wall_time=1.7e9 + step * 0.01, step=step)
    one = made.summary.value.add(tag=tag)
    one.tensor.CopyFrom(tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[value]))
    one.tensor.tensor_shape.SetInParent()
    one.metadata.plugin_data.plugin_name = "scalars"
    one.metadata.data_class = 1
    return made.SerializeToString()


def write_log(path, count):
    import tensorflow as tf
    from tensorboard.compat.proto import event_pb2, tensor_pb2, types_pb2

    chance = random.Random(1)
    header = event_pb2.Event(wall_time=1.7e9, file_version="brain.Event:2").SerializeToString()
    with tf.io.TFRecordWriter(path + ".part") as writer:
        writer.write(header)
        for i in range(count):
            tag = f"layer_{i % 100}/loss"
            writer.write(event(event_pb2, tensor_pb2, types_pb2, i // 100, tag, chance.random()))
    os.rename(path + ".part", path)


def main():
    import numpy

    args = common.arguments()
    folder = args.folder
    os.makedirs(folder, exist_ok=True)
    chance = numpy.random.default_rng(1)
    side = common.IMAGE_SIDE
    y, x, c = numpy.mgrid[0:side, 0:side, 0:3]
    noise = chance.integers(0, 8, (side, side, 3))
    ((x * (c + 1) // 2 + y + noise) % 256).astype(numpy.uint8).tofile(os.path.join(folder, "image.raw"))
    chance.standard_normal(10000).astype(numpy.float32).tofile(os.path.join(folder, "values.raw"))
    for name, count in (("few.tfevents", 40000), ("scalars.tfevents", 400000)):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            write_log(path, count)


main()
