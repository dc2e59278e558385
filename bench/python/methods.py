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
        ("add_custom_scalars_multilinechart", 500, lambda w, s: w.add_custom_scalars_multilinechart(["a", "b", "c"])),
        ("add_custom_scalars_marginchart", 500, lambda w, s: w.add_custom_scalars_marginchart(["a", "b", "c"])),
        ("add_hparams", 30, lambda w, s: w.add_hparams({"lr": 0.1}, {"loss": 1.0}, run_name=f"trial{s}")),
    ]


def add_figure_of(pyplot):
    """A figure of one line; close=False, so that one figure serves all calls."""
    figure, axes = pyplot.subplots(figsize=(3, 2), dpi=80)
    axes.plot(range(20), [number**2 for number in range(20)])
    return lambda w, s: w.add_figure("f", figure, s, close=False)


def onnx_file(folder):
    """Three layers, as an exporter writes them."""
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes, constants, flow = [], [], "x"
    for layer in range(3):
        constants.append(numpy_helper.from_array(numpy.zeros((8, 8), "float32"), f"w{layer}"))
        nodes.append(helper.make_node("MatMul", [flow, f"w{layer}"], [f"m{layer}"], name=f"layer{layer}/MatMul"))
        nodes.append(helper.make_node("Relu", [f"m{layer}"], [f"y{layer}"], name=f"layer{layer}/Relu"))
        flow = f"y{layer}"
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8]) for name in ("x", flow)]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], constants)
    path = os.path.join(folder, "net.onnx")
    onnx.save(helper.make_model(graph), path)
    return path


def measure_with_other_packages(args):
    """add_figure with matplotlib, add_onnx_graph with onnx; tests/python/requirements.txt has both."""
    try:
        import matplotlib
        import onnx  # noqa: F401
    except ImportError as error:  # tools/setup could not have it
        print(f"add_figure and add_onnx_graph are left out: {error}", file=sys.stderr)
        return
    matplotlib.use("agg")
    import matplotlib.pyplot as pyplot

    import seaboard
    import tensorboardX
    from torch.utils.tensorboard import SummaryWriter

    kinds = {"seaboard": seaboard.SummaryWriter, "torch": SummaryWriter, "tensorboardX": tensorboardX.SummaryWriter}
    path = onnx_file(args.folder)
    measure_row(args, "add_figure, 240 x 160", 20, add_figure_of(pyplot), kinds)
    measure_row(args, "add_onnx_graph, 3 layers", 50, lambda w, s: w.add_onnx_graph(path), kinds)


def measure_row(args, name, count, call, kinds):
    for who, kind in kinds.items():
        if name.split(",")[0] in LEFT_OUT.get(who, ()):
            continue
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            writer = kind(folder)
            nanoseconds = median_call(lambda step: call(writer, step), common.scaled(count, args))
            writer.close()
        common.report(who, "Python", name, "ns", nanoseconds)


def measure_writers(args):
    import numpy

    import seaboard
    import seaboard.tensorboardX
    import tensorboardX
    from torch.utils.tensorboard import SummaryWriter

    kinds = {"seaboard": seaboard.SummaryWriter, "torch": SummaryWriter, "tensorboardX": tensorboardX.SummaryWriter}
    for name, count, call in methods(numpy.random.default_rng(0)):
        measure_row(args, name, count, call, kinds)


def measure_summary(args):
    import numpy
    import tensorflow

    import seaboard.summary

    rng = numpy.random.default_rng(0)
    values = rng.normal(size=1000).astype("float32")
    picture = rng.integers(0, 255, (1, 64, 64, 3)).astype("uint8")
    sound = rng.uniform(-1, 1, (1, 4410, 1)).astype("float32")
    graph = tensorflow.Graph()
    with graph.as_default():
        for number in range(20):
            tensorflow.compat.v1.no_op(name=f"node{number}")
    calls = [
        ("tf.summary.scalar", 5000, lambda s, step: s.scalar("loss", 0.5, step=step)),
        ("tf.summary.histogram, 1000 values", 200, lambda s, step: s.histogram("h", values, step=step)),
        ("tf.summary.image, 64 x 64", 100, lambda s, step: s.image("i", picture, step=step)),
        ("tf.summary.audio, 4410 frames", 50, lambda s, step: s.audio("a", sound, 44100, step=step)),
        ("tf.summary.text", 1000, lambda s, step: s.text("t", "some text", step=step)),
        ("tf.summary.write, 1000 values", 500, lambda s, step: s.write("w", values, step=step)),
        ("tf.summary.graph, 20 nodes", 50, lambda s, step: s.graph(graph)),
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
    writers = {"seaboard": seaboard.SummaryWriter, "torch": SummaryWriter}
    measure_row(args, "add_graph, 3 layers", 20, lambda w, s: w.add_graph(model, given), writers)
    summary = tensorflow.compat.v1.Summary(value=[tensorflow.compat.v1.Summary.Value(tag="a", simple_value=0.5)])
    kinds = {"seaboard": seaboard.summary.v1.FileWriter, "TF1": tensorflow.compat.v1.summary.FileWriter}
    event = tensorflow.compat.v1.Event(step=1, summary=summary)
    metadata = tensorflow.compat.v1.RunMetadata()
    session = tensorflow.compat.v1.SessionLog(status=tensorflow.compat.v1.SessionLog.START)
    with tensorflow.Graph().as_default() as graph:
        for number in range(20):
            tensorflow.compat.v1.no_op(name=f"node{number}")
        measure_row(args, "FileWriter.add_summary", 5000, lambda w, s: w.add_summary(summary, s), kinds)
        measure_row(args, "FileWriter.add_event", 5000, lambda w, s: w.add_event(event), kinds)
        measure_row(args, "FileWriter.add_session_log", 2000, lambda w, s: w.add_session_log(session, s), kinds)
        measure_row(args, "FileWriter.add_run_metadata", 500, lambda w, s: w.add_run_metadata(metadata, f"step{s}", s), kinds)
        measure_row(args, "FileWriter.add_graph, 20 nodes", 50, lambda w, s: w.add_graph(graph, s), kinds)


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
    measure_with_other_packages(args)
    measure_checkpoints(args)


main()
