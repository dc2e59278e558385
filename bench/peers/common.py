"""What the peers' scripts share: timing calls one by one, and the JSON lines that bench/harness.h writes too.

A script is called with the folder that holds the inputs and takes the outputs, and a scale. It prints
one line a result; whatever its framework prints goes to standard error.
"""

import argparse
import json
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

IMAGE_SIDE = 256


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", default=".")
    parser.add_argument("--scale", type=float, default=1.0)
    return parser.parse_args()


def scaled(count, args):
    return max(1, int(count * args.scale))


def image(args):
    """(height, width, channel) of bytes."""
    import numpy

    data = numpy.fromfile(os.path.join(args.folder, "image.raw"), numpy.uint8)
    return data.reshape(IMAGE_SIDE, IMAGE_SIDE, 3)


def values(args):
    import numpy

    return numpy.fromfile(os.path.join(args.folder, "values.raw"), numpy.float32)


def report(who, work, part, unit, value, **more):
    line = {"work": work, "part": part, "who": who, "unit": unit, "value": value, **more}
    print(json.dumps(line), flush=True)


def measure(who, work, count, open_writer, call, close):
    """Opens a writer, calls call(writer, step) count times, closes it. Two results: the calls one by one, and all
    of it from open to close divided by count. The first call is left out of the distribution: it imports things."""
    clock = time.perf_counter_ns
    times = []
    begin = clock()
    writer = open_writer()
    for step in range(count):
        start = clock()
        call(writer, step)
        times.append(clock() - start)
    close(writer)
    total = clock() - begin
    times = sorted(times[1:] or times)

    def at(share):
        return times[min(len(times) - 1, int(len(times) * share))]

    spread = {"p90": at(0.9), "p99": at(0.99), "p999": at(0.999), "max": times[-1], "samples": len(times)}
    report(who, work, "call", "ns", at(0.5), **spread)
    report(who, work, "to disk", "ns", total / count)
