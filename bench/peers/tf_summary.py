"""TensorFlow: tf.summary (TF2), and the TF1 FileWriter with summaries that are built by hand."""

import os

import common


def tf2(args, tf):
    image, values = common.image(args)[None], common.values(args)
    works = [
        ("scalar", 5000, lambda step: tf.summary.scalar("train/loss", 1.0 / (step + 1), step)),
        ("image", 100, lambda step: tf.summary.image("train/picture", image, step)),
        ("histogram", 300, lambda step: tf.summary.histogram("train/weights", values, step)),
    ]
    for work, count, call in works:
        logdir = os.path.join(args.folder, "tf2_" + work)

        def open_writer():
            writer = tf.summary.create_file_writer(logdir)
            writer.set_as_default()
            return writer

        common.measure(
            "tf.summary",
            work,
            common.scaled(count, args),
            open_writer,
            lambda writer, step: call(step),
            lambda writer: writer.close(),
        )


def tf1(args, tf):
    def call(writer, step):
        value = tf.compat.v1.Summary.Value(tag="train/loss", simple_value=1.0 / (step + 1))
        writer.add_summary(tf.compat.v1.Summary(value=[value]), step)

    logdir = os.path.join(args.folder, "tf1_scalar")
    with tf.Graph().as_default():
        common.measure(
            "TF1 FileWriter",
            "scalar",
            common.scaled(20000, args),
            lambda: tf.compat.v1.summary.FileWriter(logdir),
            call,
            lambda writer: writer.close(),
        )


def main():
    import tensorflow as tf

    args = common.arguments()
    tf2(args, tf)
    tf1(args, tf)


main()
