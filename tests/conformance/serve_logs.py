"""Writes log directories full of what the fixtures lack: odd numbers and names, old and new forms mixed, metadata that
comes late, descriptions that disagree, runs with several files.

Everything is written with TensorFlow's record writer and TensorBoard's own messages (or by the peers' writers), at fixed
times, so that a difference can be looked at again.
"""

import math
import os
import struct

import numpy as np
import tensorflow as tf
from tensorboard.compat.proto import event_pb2, graph_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2
from tensorboard.plugins.audio import plugin_data_pb2 as audio_pb2
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.custom_scalar import summary as layout_summary
from tensorboard.plugins.hparams import summary as hparams_summary
from tensorboard.plugins.hparams import summary_v2 as hp
from tensorboard.plugins.hparams import api_pb2
from tensorboard.util import tensor_util

START = 1600000000.0
PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde\x00\x00\x00\x0c"
    b"IDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xaeB`\x82"
)
GIF = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
BMP = b"BM:\0\0\0\0\0\0\x006\0\0\0(\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\x18\0\0\0\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\0\0\0"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def wav(samples):
    data = struct.pack(f"<{len(samples)}h", *samples)
    return (
        b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
        + b"data" + struct.pack("<I", len(data)) + data
    )


class Log:
    """One event file."""

    def __init__(self, folder, name="events.out.tfevents.1600000000.host", header=True):
        os.makedirs(folder, exist_ok=True)
        self.writer = tf.io.TFRecordWriter(os.path.join(folder, name))
        self.time = START
        if header:
            self.event(file_version="brain.Event:2")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.writer.close()

    def event(self, wall_time=None, **what):
        self.time += 1
        if "summary" in what:  # of TensorFlow's own class, when TensorBoard's helpers made it
            what["summary"] = summary_pb2.Summary.FromString(what["summary"].SerializeToString())
        event = event_pb2.Event(wall_time=self.time if wall_time is None else wall_time, **what)
        self.writer.write(event.SerializeToString())

    def values(self, step, *values, **more):
        self.event(step=step, summary=summary_pb2.Summary(value=values), **more)

    def simple(self, tag, step, value, **more):
        self.values(step, summary_pb2.Summary.Value(tag=tag, simple_value=value), **more)

    def tensor(self, tag, step, tensor, metadata=None, **more):
        if not isinstance(tensor, tensor_pb2.TensorProto):
            tensor = tensor_util.make_tensor_proto(tensor)
        self.values(step, summary_pb2.Summary.Value(tag=tag, tensor=tensor, metadata=metadata), **more)


def meta(plugin, content=b"", display="", description="", data_class=0):
    return summary_pb2.SummaryMetadata(
        plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name=plugin, content=content),
        display_name=display,
        summary_description=description,
        data_class=data_class,
    )


# ---- scalars --------------------------------------------------------------------------------------------------------


def scalars(root):
    with Log(root + "/numbers") as log:
        odd = [0.1, -0.0, 1e-45, 3.4e38, math.nan, math.inf, -math.inf, 1.0, 123456.789, 1e16, 1e-5]
        for step, value in enumerate(odd):
            log.simple("odd", step, value)
        for step in (-5, 0, 7, 7, 3, 2**62, -(2**62)):
            log.simple("steps", step, float(step % 11))
        for step, wall in enumerate((0.0, 1.5, 1e300, -3.0, 1700000000.123456)):
            log.simple("times", step, 1.0, wall_time=wall)
    with Log(root + "/numbers, new form") as log:
        for name, values in {
            "float32": np.float32([0.1, np.nan, -np.inf, 3]),
            "float64": np.float64([0.1, 1e300, -0.0, 3]),
            "half": np.float16([0.1, 2, 65504, 6e-8]),
            "int32": np.int32([1, -1, 2**31 - 1, 0]),
            "int64": np.int64([1, -1, 2**53, 0]),
            "uint8": np.uint8([0, 1, 255, 3]),
            "bool": np.array([True, False, True, False]),
        }.items():
            for step, value in enumerate(values):
                log.tensor(name, step, value, meta("scalars"))
            for step, value in enumerate(values):
                log.tensor(name + " in a list", step, np.array([value]), meta("scalars"))
        for name, values in {
            "int32, then float": [np.int32(0), np.float32(0.5), np.float32(2.75), np.int32(7), np.float32(-np.inf)],
            "bool, then float": [np.bool_(True), np.float32(0.5), np.int32(2), np.bool_(False)],
            "int32, then whole floats": [np.int32(1), np.float32(2), np.float32(3), np.int32(4), np.int32(5), np.float32(6)],
            "float, then int32": [np.float32(1), np.float32(2), np.int32(2), np.int32(3), np.float32(3)],
            "int64, then double": [np.int64(2**40 + 1), np.float64(2**40 + 2), np.int64(-1), np.float64(-1)],
            "uint8, bool, half": [np.uint8(1), np.bool_(True), np.float16(1), np.uint8(0), np.bool_(False), np.float16(0)],
            "int32, then a simple value": [np.int32(3), 3.0, 3.0, np.int32(3), 3.0],
            "every other one": [np.int32(i) if i % 2 else np.float32(i) for i in range(240)],
        }.items():
            for step, value in enumerate(values):
                if isinstance(value, float) and not isinstance(value, np.floating):
                    log.simple(name, step, value)
                else:
                    log.tensor(name, step, value, meta("scalars"))
    names = ["", " ", "a b", "a/b/c", "é", "训练/损失", 'quote"s', "it's", "<b>&amp;", "a%2Fb", "a+b", "tab\there", "😊", "back\\slash", "x" * 300]
    with Log(root + "/names of tags") as log:
        for name in names:
            log.simple(name, 1, 1.0)
    for name in ("run with blanks", "训练", "it's", "a+b&c=d", "<i>"):
        with Log(f"{root}/{name}") as log:
            log.simple("loss", 1, 2.0)
    with Log(root + "/described/a") as log:
        log.tensor("loss", 0, np.float32(1), meta("scalars", display="Loss", description="The *loss*, see [here](http://x)"))
        log.tensor("same", 0, np.float32(1), meta("scalars", description="The same"))
    with Log(root + "/described/b") as log:
        log.tensor("loss", 0, np.float32(1), meta("scalars", display="Loss 2", description="Another\n\n* a\n* b"))
        log.tensor("same", 0, np.float32(1), meta("scalars", description="The same"))
        log.tensor("loss", 1, np.float32(1), meta("scalars", display="Too late", description="Too late"))
        log.values(2, summary_pb2.Summary.Value(tag="old", simple_value=1, metadata=meta("x", display="Old", description="`o`")))


def series(root):
    """What a series is: first metadata, versions, classes, plugins nobody knows."""
    with Log(root + "/kinds of series") as log:
        log.tensor("version 1", 0, np.float32(1), meta("scalars", content=b"\x08\x01"))
        log.tensor("no metadata", 0, np.float32(1))
        log.tensor("late metadata", 0, np.float32(1))
        log.tensor("late metadata", 1, np.float32(2), meta("scalars"))
        log.tensor("unknown plugin", 0, np.float32(1), meta("nobody"))
        log.tensor("unknown plugin with a class", 0, np.float32(1), meta("nobody", data_class=1))
        log.tensor("metadata once", 0, np.float32(1), meta("scalars"))
        log.tensor("metadata once", 1, np.float32(2))
    with Log(root + "/only unknown versions") as log:
        log.tensor("x", 0, np.float32(1), meta("scalars", content=b"\x08\x01"))
        log.tensor("h", 0, np.zeros([1, 3]), meta("histograms", content=b"\x08\x05"))
    with Log(root + "/two files", "events.out.tfevents.1") as one, Log(root + "/two files", "events.out.tfevents.2") as two:
        for step in range(10):
            one.simple("left", step, step)
            two.simple("right", step, -step)
    with Log(root + "/many at once") as log:
        for step in range(3):
            log.values(step, *(summary_pb2.Summary.Value(tag=f"t{i}", simple_value=i + step) for i in range(50)))


# ---- histograms -----------------------------------------------------------------------------------------------------


def histograms(root):
    def old(limits, counts, least, most):
        return summary_pb2.HistogramProto(
            min=least, max=most, num=sum(counts), sum=1, sum_squares=2, bucket_limit=limits, bucket=counts
        )

    big = np.finfo(np.float64).max
    with Log(root + "/histograms") as log:
        for step, histo in enumerate(
            [
                old([-2, 0, 2, 4, big], [0, 1, 2, 0, 0], -1, 3),
                old([big], [0], 0, 0),
                old([0.1, 0.2, 0.3], [1, 0, 5], 0.05, 0.25),
                old([1, 2], [0, 0], 0, 0),
            ]
        ):
            log.values(step, summary_pb2.Summary.Value(tag="old", histo=histo))
        rows = [
            [[0, 1, 2], [1, 2, 3]],
            [[0, 1, 0], [1, 2, 3], [2, 3, 0]],
            [[-1.5, -0.5, 0], [-0.5, 0.5, 0]],
            [[0.1, 0.1, 7]],
            [[0, 1, 1e9], [1, 2, 1]],
        ]
        for step, row in enumerate(rows):
            log.tensor("new", step, np.float64(row), meta("histograms", display="H", description="*h*"))
            log.tensor("float", step, np.float32(row), meta("histograms"))
        log.tensor("empty", 0, np.zeros([0, 3]), meta("histograms"))


# ---- pictures and sound ---------------------------------------------------------------------------------------------


def media(root):
    with Log(root + "/pictures") as log:
        for step, data in enumerate((PNG, GIF, BMP, SVG, b"", b"garbage")):
            picture = summary_pb2.Summary.Image(width=3, height=2, colorspace=3, encoded_image_string=data)
            log.values(step, summary_pb2.Summary.Value(tag="old", image=picture))
            log.tensor("new", step, tensor_util.make_tensor_proto([b"3", b"2", data, PNG]), meta("images", description="d"))
        log.tensor("fewer and more", 0, tensor_util.make_tensor_proto([b"1", b"1", PNG]), meta("images"))
        log.tensor("fewer and more", 1, tensor_util.make_tensor_proto([b"1", b"1", PNG, GIF, BMP]), meta("images"))
        log.tensor("fewer and more", 2, tensor_util.make_tensor_proto([b"1", b"1"]), meta("images"))
        for tag in ("it's", "训练"):
            log.tensor(tag, 0, tensor_util.make_tensor_proto([b"1", b"1", PNG]), meta("images"))
    known = audio_pb2.AudioPluginData(encoding=audio_pb2.AudioPluginData.WAV).SerializeToString()
    with Log(root + "/sound") as log:
        for step in range(3):
            clip = wav(range(step, 100 + step))
            old = summary_pb2.Summary.Audio(sample_rate=8000, num_channels=1, length_frames=100, encoded_audio_string=clip)
            log.values(step, summary_pb2.Summary.Value(tag="old", audio=old))
            log.tensor("known", step, tensor_util.make_tensor_proto([clip, clip[:60]]), meta("audio", content=known))
            log.tensor("unknown", step, tensor_util.make_tensor_proto([clip]), meta("audio"))
            labelled = tensor_util.make_tensor_proto([[clip, b"one"], [clip, b"two"]])
            log.tensor("labelled", step, labelled, meta("audio", content=known))


# ---- texts ----------------------------------------------------------------------------------------------------------


def texts(root):
    with Log(root + "/texts") as log:
        words = [
            "# _Hello_, **world!**\n\nCheck out [my website](http://example.com)!",
            "<script>alert(1)</script> and <b>bold</b>",
            "a | b\n- | -\n1 | 2",
            "",
            "```python\nx<y\n```",
            "[a](javascript:alert(1)) <a href='&#106;avascript:x'>y</a>",
            "训练 *重点* 😊",
        ]
        for step, text in enumerate(words):
            log.tensor("rank 0", step, tensor_util.make_tensor_proto(text.encode()), meta("text"))
        log.tensor("rank 1", 0, tensor_util.make_tensor_proto([w.encode() for w in words]), meta("text", content=b"{}"))
        log.tensor("rank 2", 0, tensor_util.make_tensor_proto(np.array([["a", "*b*"], ["c", "<d>"]])), meta("text"))
        log.tensor("rank 3", 0, tensor_util.make_tensor_proto(np.array([[["a", "b"]], [["c", "d"]]])), meta("text"))
        log.tensor("empty", 0, tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, tensor_shape=tensor_shape_pb2.TensorShapeProto(dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=0)])), meta("text"))


# ---- graphs ---------------------------------------------------------------------------------------------------------


def graphs(root):
    graph = graph_pb2.GraphDef()
    for i in range(5):
        node = graph.node.add(name=f"n{i}/ä", op="Add", input=[f"n{i - 1}/ä", "^c"] if i else [])
        node.attr["T"].type = 1
        node.attr["big"].s = bytes(range(256))
        node.attr["list"].list.i.extend([1, -2, 3])
        node.attr["f"].f = math.inf
        node.attr["shape"].shape.dim.add(size=-1)
        node.attr["tensor"].tensor.CopyFrom(tensor_util.make_tensor_proto(np.arange(3.0)))
    graph.versions.producer = 27
    with Log(root + "/graph") as log:
        log.event(graph_def=graph.SerializeToString())
        log.simple("loss", 0, 1.0)
    with Log(root + "/only a meta graph") as log:
        log.event(meta_graph_def=b"\x12\x00")
        log.simple("loss", 0, 1.0)


# ---- hparams --------------------------------------------------------------------------------------------------------


def hparams(root):
    """Sessions without a declared experiment: types that agree and that do not, missing values, groups."""
    values = [
        {"lr": 0.1, "opt": "adam", "bn": True, "mixed": 1, "only first": "x"},
        {"lr": 0.01, "opt": "sgd", "bn": False, "mixed": "one"},
        {"lr": 0.1, "opt": "ad\"am é", "bn": True, "mixed": True},
        {"lr": 1.0, "opt": "adam", "bn": True, "mixed": 2.5},
    ]
    for i, one in enumerate(values):
        run = f"{root}/session {i}"
        group = ["g1", "g1", "g2", ""][i]
        with Log(run) as log:
            start = hparams_summary.session_start_pb(one, model_uri=f"m{i}", monitor_url=f"u{i}", group_name=group, start_time_secs=100.0 + i)
            log.event(summary=start)
            for step in range(5):
                log.simple("loss", step, 1.0 / (step + i + 1))
                if i != 2:
                    log.simple("accuracy", step, step * 0.1 + i)
            if i != 3:
                log.event(summary=hparams_summary.session_end_pb([api_pb2.STATUS_SUCCESS, api_pb2.STATUS_FAILURE, api_pb2.STATUS_RUNNING][i], 200.0 + i))
        with Log(run + "/eval") as log:
            log.simple("loss", 3, 10.0 + i)


def layouts(root):
    def chart(title, *tags):
        return layout_pb2.Chart(title=title, multiline=layout_pb2.MultilineChartContent(tag=tags))

    margin = layout_pb2.Chart(
        title="m",
        margin=layout_pb2.MarginChartContent(
            series=[layout_pb2.MarginChartContent.Series(value="loss", lower="lo", upper="up")]
        ),
    )
    one = layout_pb2.Layout(category=[layout_pb2.Category(title="c1", chart=[chart("t", "loss.*")]), layout_pb2.Category(title="c2", closed=True, chart=[margin])])
    two = layout_pb2.Layout(category=[layout_pb2.Category(title="c1", chart=[chart("t", "loss.*"), chart("u", "acc")]), layout_pb2.Category(title="c3", chart=[chart("v", "x", "y")])])
    for run, layout in (("layout a", one), ("layout b", two)):
        with Log(f"{root}/{run}") as log:
            log.event(summary=layout_summary.pb(layout))
            for step in range(3):
                log.simple("loss", step, step)
                log.simple("acc/1", step, -step)


def everything(root):
    """One directory with all but the hyperparameters, which would speak for all runs."""
    root = str(root)
    for part in (scalars, series, histograms, media, texts, graphs, layouts):
        part(root)
    return root


def sessions(root):
    hparams(str(root))
    return str(root)
