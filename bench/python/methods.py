"""Every method of SummaryWriter and of tf.summary, called from Python: ours beside the originals, in one process.

The median of single calls, the clock's own cost included (about 0.1 µs). And how long `import` takes, each in a process
of its own. The package is the one in build/bench/python.
"""

import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peers"))
import common  # noqa: E402

IMPORTS = {"seaboard": "seaboard", "tensorboardX": "tensorboardX", "torch": "torch.utils.tensorboard", "tf.summary": "tensorflow"}


LEFT_OUT = {  # what needs another package there, has other arguments, or is not there
    "tensorboardX": ("add_audio", "add_hparams", "add_tensor", "add_video", "add_embedding"),
    "torch": ("add_video", "add_embedding"),
}


def median_call(call, count):
    clock = time.perf_counter_ns
    call(0)
    times = []
    for step in range(1, count + 1):
        start = clock()
        call(step)
        times.append(clock() - start)
    return sorted(times)[len(times) // 2]


def methods(rng):
    """Name, how often, and the call of a SummaryWriter."""
    import torch

    values = rng.normal(size=1000).astype("float32")
    tensor = torch.from_numpy(values)
    image = rng.integers(0, 255, (3, 64, 64)).astype("uint8")
    sound = rng.uniform(-1, 1, 4410).astype("float32")
    labels, guesses = rng.integers(0, 2, 1000), rng.uniform(0, 1, 1000)
    points = rng.normal(size=(1, 100, 3)).astype("float32")
    limits = list(range(1, 31))
    rows = rng.uniform(size=(6, 127)).astype("float32")
    boxes = rng.uniform(0, 60, (4, 4)).astype("float32")
    film = rng.integers(0, 255, (1, 4, 3, 16, 16)).astype("uint8")
    labelled = [str(number) for number in range(100)]
    return [
        ("add_scalar", 20000, lambda w, s: w.add_scalar("loss", 0.5, s)),
        ("add_scalars, 3 keys", 2000, lambda w, s: w.add_scalars("main", {"a": 1.0, "b": 2.0, "c": 3.0}, s)),
        ("add_histogram, 1000 values", 300, lambda w, s: w.add_histogram("h", values, s)),
        ("add_histogram_raw, 30 buckets", 2000, lambda w, s: w.add_histogram_raw("r", 0, 1, 9, 4, 5, limits, limits, s)),
        ("add_image, 64 x 64", 300, lambda w, s: w.add_image("i", image, s)),
        ("add_images, 8 of 64 x 64", 50, lambda w, s: w.add_images("g", image[None].repeat(8, 0), s)),
        ("add_audio, 4410 frames", 100, lambda w, s: w.add_audio("a", sound, s)),
        ("add_text", 5000, lambda w, s: w.add_text("t", "some **text**", s)),
        ("add_pr_curve, 1000 labels", 300, lambda w, s: w.add_pr_curve("p", labels, guesses, s)),
        ("add_mesh, 100 points", 300, lambda w, s: w.add_mesh("m", points, global_step=s)),
        ("add_custom_scalars", 1000, lambda w, s: w.add_custom_scalars({"a": {"b": ["Multiline", ["x"]]}})),
        ("add_image_with_boxes, 4 boxes", 50, lambda w, s: w.add_image_with_boxes("b", image, boxes, s)),
        ("add_video, 4 frames of 16 x 16", 50, lambda w, s: w.add_video("v", film, s)),
        ("add_pr_curve_raw, 127 thresholds", 300, lambda w, s: w.add_pr_curve_raw("q", *rows, s)),
        ("add_tensor, 1000 values", 300, lambda w, s: w.add_tensor("x", tensor, s)),
        ("add_embedding, 100 of 3", 10, lambda w, s: w.add_embedding(points[0], labelled, global_step=s)),
        ("add_custom_scalars_marginchart", 500, lambda w, s: w.add_custom_scalars_marginchart(["a", "b", "c"])),
        ("add_hparams", 30, lambda w, s: w.add_hparams({"lr": 0.1}, {"loss": 1.0}, run_name=f"trial{s}")),
    ]


def measure_writers(args):
    import numpy

    import seaboard
    import seaboard.tensorboardX
    import tensorboardX
    from torch.utils.tensorboard import SummaryWriter

    kinds = {"seaboard": seaboard.SummaryWriter, "torch": SummaryWriter, "tensorboardX": tensorboardX.SummaryWriter}
    for name, count, call in methods(numpy.random.default_rng(0)):
        for who, kind in kinds.items():
            if name.split(",")[0] in LEFT_OUT.get(who, ()):
                continue
            with tempfile.TemporaryDirectory(dir=args.folder) as folder:
                writer = kind(folder)
                nanoseconds = median_call(lambda step: call(writer, step), common.scaled(count, args))
                writer.close()
            common.report(who, "Python", name, "ns", nanoseconds)


def measure_summary(args):
    import numpy
    import tensorflow

    import seaboard.summary

    rng = numpy.random.default_rng(0)
    values = rng.normal(size=1000).astype("float32")
    picture = rng.integers(0, 255, (1, 64, 64, 3)).astype("uint8")
    sound = rng.uniform(-1, 1, (1, 4410, 1)).astype("float32")
    calls = [
        ("tf.summary.scalar", 5000, lambda s, step: s.scalar("loss", 0.5, step=step)),
        ("tf.summary.histogram, 1000 values", 200, lambda s, step: s.histogram("h", values, step=step)),
        ("tf.summary.image, 64 x 64", 100, lambda s, step: s.image("i", picture, step=step)),
        ("tf.summary.audio, 4410 frames", 50, lambda s, step: s.audio("a", sound, 44100, step=step)),
        ("tf.summary.text", 1000, lambda s, step: s.text("t", "some text", step=step)),
    ]
    for name, count, call in calls:
        for who, module in (("seaboard", seaboard.summary), ("tf.summary", tensorflow.summary)):
            with tempfile.TemporaryDirectory(dir=args.folder) as folder:
                with module.create_file_writer(folder).as_default():
                    nanoseconds = median_call(lambda step: call(module, step), common.scaled(count, args))
            common.report(who, "Python", name, "ns", nanoseconds)


def measure_graphs(args):
    """The graph of a small module of torch, traced by torch; and a prepared summary through FileWriter."""
    import torch
    from torch.utils.tensorboard import SummaryWriter

    import seaboard
    import seaboard.summary.v1
    import tensorflow

    model, given = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)), torch.ones(1, 4)
    for who, kind in (("seaboard", seaboard.SummaryWriter), ("torch", SummaryWriter)):
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            writer = kind(folder)
            nanoseconds = median_call(lambda step: writer.add_graph(model, given), common.scaled(20, args))
            writer.close()
        common.report(who, "Python", "add_graph, 3 layers", "ns", nanoseconds)
    summary = tensorflow.compat.v1.Summary(value=[tensorflow.compat.v1.Summary.Value(tag="a", simple_value=0.5)])
    kinds = {"seaboard": seaboard.summary.v1.FileWriter, "TF1": tensorflow.compat.v1.summary.FileWriter}
    with tensorflow.Graph().as_default():
        for who, kind in kinds.items():
            with tempfile.TemporaryDirectory(dir=args.folder) as folder:
                writer = kind(folder)
                nanoseconds = median_call(lambda step: writer.add_summary(summary, step), common.scaled(5000, args))
                writer.close()
            common.report(who, "Python", "FileWriter.add_summary", "ns", nanoseconds)


def measure_imports():
    for who, module in IMPORTS.items():
        program = f"import time; t = time.perf_counter_ns(); import {module}; print(time.perf_counter_ns() - t)"
        times = []
        for _ in range(5 if who in ("seaboard", "tensorboardX") else 2):
            said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
            times.append(int(said.stdout.split()[-1]))
        common.report(who, "Python", "import", "ns", min(times))


def measure_checkpoints(args):
    """Saving and restoring 16 arrays of 1 MiB, from Python."""
    import numpy
    import tensorflow

    from seaboard import train

    arrays = {f"a{number}": numpy.ones(1 << 18, "float32") for number in range(16)}
    variables = {name: tensorflow.Variable(value) for name, value in arrays.items()}
    for who, module, objects in (("seaboard", train, arrays), ("tf.train", tensorflow.train, variables)):
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            checkpoint = module.Checkpoint(**objects)
            prefix = os.path.join(folder, "c")
            saving = median_call(lambda step: checkpoint.write(prefix), common.scaled(10, args))
            restoring = median_call(lambda step: checkpoint.read(prefix), common.scaled(10, args))
        common.report(who, "Python", "Checkpoint.write, 16 MiB", "ns", saving)
        common.report(who, "Python", "Checkpoint.read, 16 MiB", "ns", restoring)


def main():
    args = common.arguments()
    measure_imports()
    measure_writers(args)
    measure_summary(args)
    measure_graphs(args)
    measure_checkpoints(args)


main()
