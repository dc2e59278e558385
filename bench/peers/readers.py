"""Reading event files: TensorBoard's Python loader, and TensorFlow's record iterator (C++, verifies checksums)."""

import os
import time

import common


def timed(who, part, path, read):
    """The best of several readings; read returns how many records there were."""
    times = []
    for _ in range(5):
        start = time.perf_counter_ns()
        count = read(path)
        times.append(time.perf_counter_ns() - start)
    ns = min(times)
    if part == "record, each":
        common.report(who, "read", "record scan", "GB/s", os.path.getsize(path) / ns)
    common.report(who, "read", part, "ns", ns / count)


def main():
    args = common.arguments()
    few = os.path.join(args.folder, "few.tfevents")

    import tensorflow as tf
    from tensorboard.backend.event_processing import event_file_loader

    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    timed(
        "TF record iterator",
        "record, each",
        few,
        lambda path: sum(1 for _ in tf.compat.v1.io.tf_record_iterator(path)),
    )
    timed(
        "TensorBoard loader",
        "scalar event, each",
        few,
        lambda path: sum(1 for _ in event_file_loader.EventFileLoader(path).Load()),
    )


main()
