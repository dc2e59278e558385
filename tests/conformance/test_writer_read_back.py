"""What TensorBoard itself makes of our files: by EventAccumulator, and by a server over HTTP.

Every kind in every style is written once; both loaders of the server (the default one, and --load_fast=false)
must answer the data routes of each tag.
"""

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import numpy as np
import pytest
from tensorboard.backend.event_processing import event_accumulator
from tensorboard.util import tensor_util

import sbctypes as sb
import writer_common as common

SECONDS = 60
STEPS = 3
RNG = np.random.default_rng(1)
PICTURE = {"tf2": (2, 4, 6, 3), "tf1": (2, 4, 6, 3), "torch": (3, 4, 6), "tbx": (3, 4, 6)}
SOUND = {"tf2": (1, 50, 1), "tf1": (1, 50, 1), "torch": (50,), "tbx": (50,)}


def graph_def():
    import tensorflow as tf

    with tf.Graph().as_default() as graph:
        tf.compat.v1.placeholder(tf.float32, [2, 3], name="x")
        return graph.as_graph_def().SerializeToString()


def write_run(logdir, style):
    import tensorflow as tf

    stats = tf.compat.v1.RunMetadata()
    stats.step_stats.dev_stats.add(device="/cpu:0").node_stats.add(node_name="x", all_end_rel_micros=5)
    with sb.Writer(logdir, sb.STYLES[style]) as w:
        w.graph(graph_def())
        w.run_metadata("step1", stats.SerializeToString(), 1)
        w.custom_scalars({"cat": {"chart": ["Multiline", ["scalar.*"]], "band": ["Margin", ["a", "b", "c"]]}})
        w.hparams_config([{"name": "lr", "type": 3, "has_interval": True, "min": 0, "max": 1}], [{"tag": "scalar"}])
        w.hparams_start({"lr": 0.25, "opt": "adam", "flag": True}, "group", 1.5)
        for step in range(STEPS):
            w.scalar("scalar", step + 0.5, step)
            w.image("image", RNG.integers(0, 256, PICTURE[style]).astype(np.uint8), step)
            w.video("video", RNG.integers(0, 256, (1, 2, 3, 8, 8)).astype(np.uint8), step)
            w.audio("audio", RNG.uniform(-1, 1, SOUND[style]).astype(np.float32), 8000, step)
            w.text("text", f"step *{step}*", step)
            w.histogram("histogram", RNG.normal(size=200), step)
            w.pr_curve("pr", RNG.integers(0, 2, 50), RNG.uniform(size=50).astype(np.float32), step)
            w.mesh("mesh", RNG.uniform(size=(1, 5, 3)).astype(np.float32), step, RNG.integers(0, 256, (1, 5, 3)))
        w.hparams_end(sb.SUCCESS, 2.5)
        w.embedding(RNG.normal(size=(4, 3)).astype(np.float32), "emb", ["a", "b", "c", "d"])


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for style in sb.STYLES:
        write_run(root / style, style)
    return root


def tags_of(style):
    """The tag under which each kind is found."""
    tf = style in ("tf2", "tf1")
    return {
        "scalar": "scalar",
        "image": "image/image/0" if style == "tf1" else "image",
        "video": "video/image" if style == "tf1" else "video",
        "audio": "audio/audio/0" if style == "tf1" else "audio",
        "text": "text" if tf else "text/text_summary",
        "histogram": "histogram",
        "pr": "pr/pr_curves" if tf else "pr",
        "vertices": "mesh_1" if style == "tbx" else "mesh_VERTEX",
    }


# ---- the library's reader


@pytest.mark.parametrize("style", sb.STYLES)
def test_event_accumulator_finds_every_kind(logdir, style):
    guidance = dict.fromkeys(event_accumulator.DEFAULT_SIZE_GUIDANCE, 0)
    events = event_accumulator.EventAccumulator(str(logdir / style), size_guidance=guidance)
    events.Reload()
    found = events.Tags()
    tags = tags_of(style)
    assert found["graph"]
    assert found["run_metadata"] == ["step1"]
    if style == "tf2":
        everything = set(found["tensors"])
        assert set(tags.values()) <= everything
        values = [tensor_util.make_ndarray(e.tensor_proto).item() for e in events.Tensors("scalar")]
        rows = tensor_util.make_ndarray(events.Tensors("histogram")[0].tensor_proto)
        assert rows.shape == (30, 3) and rows[:, 2].sum() == 200
        images = tensor_util.make_ndarray(events.Tensors("image")[0].tensor_proto)
        assert images[:2].tolist() == [b"6", b"4"] and len(images) == 4
    else:
        assert tags["scalar"] in found["scalars"]
        assert {tags["image"], tags["video"]} <= set(found["images"])
        assert tags["audio"] in found["audio"]
        assert tags["histogram"] in found["histograms"]
        assert {tags["text"], tags["pr"], tags["vertices"]} <= set(found["tensors"])
        values = [e.value for e in events.Scalars("scalar")]
        assert sum(events.Histograms("histogram")[0].histogram_value.bucket) == 200
        image = events.Images(tags["image"])[0]
        assert (image.width, image.height) == (6, 4)
    assert values == [0.5, 1.5, 2.5]
    curve = tensor_util.make_ndarray(events.Tensors(tags["pr"])[0].tensor_proto)
    assert curve.shape == (6, 201 if style in ("tf2", "tf1") else 127)
    shape = tensor_util.make_ndarray(events.Tensors(tags["vertices"])[0].tensor_proto).shape
    assert shape == (1, 5, 3)
    text = tensor_util.make_ndarray(events.Tensors(tags["text"])[0].tensor_proto)
    assert text.reshape(-1).tolist() == [b"step *0*"]


# ---- a server


class Server:
    def __init__(self, logdir, *options):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--port", str(port)]
        command += ["--host", "127.0.0.1", "--reload_interval", "1", *options]
        self.base = f"http://127.0.0.1:{port}/data/"
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def get(self, route, **query):
        url = self.base + route + ("?" + urllib.parse.urlencode(query) if query else "")
        with urllib.request.urlopen(url, timeout=SECONDS) as reply:
            return reply.headers.get_content_type(), reply.read()

    def json(self, route, **query):
        return json.loads(self.get(route, **query)[1])

    def wait_until(self, is_loaded):
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            assert self.process.poll() is None, "tensorboard ended"
            try:
                if is_loaded(self):
                    return
            except (urllib.error.URLError, ConnectionError):
                pass
            time.sleep(0.2)
        raise AssertionError("tensorboard did not load the runs in time")

    def close(self):
        self.process.terminate()
        self.process.wait(SECONDS)


def is_loaded(server):
    runs = set(server.json("runs"))
    audio = server.json("plugin/audio/tags")
    return set(sb.STYLES) <= runs and all(audio.get(style) for style in sb.STYLES)


@pytest.fixture(scope="module", params=[(), ("--load_fast=false",)], ids=["default", "python_loader"])
def server(logdir, request):
    server = Server(logdir, *request.param)
    try:
        server.wait_until(is_loaded)
        yield server
    finally:
        server.close()


@pytest.fixture(params=sb.STYLES)
def style(request):
    return request.param


def test_scalars(server, style):
    points = server.json("plugin/scalars/scalars", run=style, tag="scalar")
    assert [point[1:] for point in points] == [[0, 0.5], [1, 1.5], [2, 2.5]]


def test_images(server, style):
    for kind, content_type in (("image", "image/png"), ("video", "image/gif")):
        tag = tags_of(style)[kind]
        rows = server.json("plugin/images/images", run=style, tag=tag, sample=0)
        assert [row["step"] for row in rows] == [0, 1, 2]
        sent_type, data = server.get(f"plugin/images/individualImage?{rows[0]['query']}")
        assert sent_type == content_type
        common.pixels_of(data)


def test_audio(server, style):
    rows = server.json("plugin/audio/audio", run=style, tag=tags_of(style)["audio"], sample=0)
    assert [row["step"] for row in rows] == [0, 1, 2]
    sent_type, data = server.get(f"plugin/audio/individualAudio?{rows[0]['query']}")
    # The default loader forgets the type of clips that are no tensors.
    assert sent_type == "audio/wav" or style != "tf2"
    assert data[:4] == b"RIFF"


def test_text(server, style):
    rows = server.json("plugin/text/text", run=style, tag=tags_of(style)["text"])
    assert [row["step"] for row in rows] == [0, 1, 2]
    assert "<em>2</em>" in rows[2]["text"]


def test_histograms_and_distributions(server, style):
    rows = server.json("plugin/histograms/histograms", run=style, tag="histogram")
    assert [row[1] for row in rows] == [0, 1, 2]
    assert sum(bucket[2] for bucket in rows[0][2]) == 200
    rows = server.json("plugin/distributions/distributions", run=style, tag="histogram")
    assert len(rows) == STEPS


def test_pr_curves(server, style):
    rows = server.json("plugin/pr_curves/pr_curves", run=style, tag=tags_of(style)["pr"])
    assert [row["step"] for row in rows[style]] == [0, 1, 2]
    # The server leaves out thresholds behind the last one with a true positive.
    shown = rows[style][0]["thresholds"]
    assert shown[0] == 0 and 100 < len(shown) <= (201 if style in ("tf2", "tf1") else 127)


def test_mesh(server, style):
    found = server.json("plugin/mesh/tags")[style]
    assert "mesh" in found
    rows = server.json("plugin/mesh/meshes", run=style, tag="mesh", sample=0)
    assert sorted({row["content_type"] for row in rows}) == [1, 3]
    for kind, size in (("VERTEX", 4), ("COLOR", 1)):
        _, data = server.get("plugin/mesh/data", run=style, tag="mesh", content_type=kind, step=0, sample=0)
        assert len(data) == 5 * 3 * size


def test_graphs(server, style):
    info = server.json("plugin/graphs/info")[style]
    assert info["run_graph"]
    assert "step1" in info["tags"]
    _, graph = server.get("plugin/graphs/graph", run=style)
    assert b'name: "x"' in graph
    _, metadata = server.get("plugin/graphs/run_metadata", run=style, tag="step1")
    assert b"/cpu:0" in metadata


def test_custom_scalars(server):
    layout = server.json("plugin/custom_scalars/layout")
    assert [category["title"] for category in layout["category"]] == ["cat"]
    assert [chart["title"] for chart in layout["category"][0]["chart"]] == ["chart", "band"]


def post(server, route, body):
    request = urllib.request.Request(
        server.base + route, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as reply:
        return json.load(reply)


def test_hparams(server):
    experiment = post(server, "plugin/hparams/experiment", {"experimentName": ""})
    assert [info["name"] for info in experiment["hparamInfos"]] == ["lr"]
    request = {
        "experimentName": "",
        "allowedStatuses": ["STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_RUNNING"],
        "colParams": [{"hparam": "lr"}, {"metric": {"tag": "scalar", "group": ""}}],
        "startIndex": 0,
        "sliceSize": 10,
    }
    groups = post(server, "plugin/hparams/session_groups", request)["sessionGroups"]
    assert [group["name"] for group in groups] == ["group"]
    assert groups[0]["hparams"]["lr"] == 0.25
    assert sorted(session["name"] for session in groups[0]["sessions"]) == sorted(sb.STYLES)


def test_projector(server, style):
    info = server.json("plugin/projector/info", run=style)
    assert [row["tensorName"] for row in info["embeddings"]] == ["emb:00000"]
    _, data = server.get("plugin/projector/tensor", run=style, name="emb:00000")
    assert len(data) == 4 * 3 * 4
    _, labels = server.get("plugin/projector/metadata", run=style, name="emb:00000")
    assert labels.split() == [b"a", b"b", b"c", b"d"]
