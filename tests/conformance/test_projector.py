"""The projector's routes: ours against real TensorBoard (with TensorFlow, so that checkpoints count) over the same
directories: every run, every embedding, every file, and what is said when something is missing."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import pathlib
import time

import numpy as np
import PIL.Image
import pytest
import tensorflow as tf

from serve_peers import Trio

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "fixtures"
ROUTE = "/data/plugin/projector/"


class Pair:
    """seaboard and TensorBoard over one directory."""

    def __init__(self, logdir):
        self.trio = Trio([f"--logdir={logdir}"], fast=False)
        self.ours, self.real = self.trio.peers["seaboard"], self.trio.peers["python"]

    def both(self, route, **query):
        mine, theirs = (peer.ask(ROUTE + route, query) for peer in (self.ours, self.real))
        return mine, theirs

    def same(self, route, **query):
        mine, theirs = self.both(route, **query)
        assert (mine.status, mine.type(), mine.body) == (theirs.status, theirs.type(), theirs.body), (route, query)
        return mine

    def info(self, run):
        """Both configs, equal but for the order in which a checkpoint's tensors come."""
        mine, theirs = (answer.json() for answer in self.both("info", run=run))
        for config in (mine, theirs):
            config["embeddings"].sort(key=lambda embedding: embedding.get("tensorName", ""))
        assert mine == theirs
        return mine

    def everything(self):
        runs = [answer.json() for answer in self.both("runs")]
        assert sorted(runs[0]) == sorted(runs[1])  # TensorBoard has them as the directory lists them
        for run in runs[0]:
            for embedding in self.info(run)["embeddings"]:
                name = embedding["tensorName"]
                for rows in ({}, {"num_rows": 3}, {"num_rows": 1000000}, {"num_rows": ""}):
                    self.same("tensor", run=run, name=name, **rows)
                    self.same("metadata", run=run, name=name, **rows)
                self.same("metadata", run=run, name=name + ":0")
                self.same("bookmarks", run=run, name=name)
                self.same("sprite_image", run=run, name=name)
        return runs[0]

    def enabled(self):
        """TensorBoard answers the first time before it knows."""
        deadline = time.monotonic() + 60
        mine = self.ours.json("/data/plugins_listing")["projector"]
        while True:
            theirs = self.real.json("/data/plugins_listing")["projector"]
            if theirs == mine or time.monotonic() > deadline:
                break
            time.sleep(0.2)
        assert mine == theirs
        return mine["enabled"]


@pytest.fixture
def pair():
    made = []

    def make(logdir):
        made.append(Pair(logdir))
        return made[-1]

    yield make
    for one in made:
        one.trio.close()


def test_a_checkpoint_with_labels_and_a_sprite(pair):
    p = pair(FIXTURES / "tf/projector")
    assert p.everything() == ["."] and p.enabled()
    config = p.info(".")
    assert config["embeddings"][0]["tensorShape"] == [50, 8]
    name = config["embeddings"][0]["tensorName"]
    assert p.same("sprite_image", run=".", name=name).type() == "image/png"
    for route in ("info", "tensor", "metadata", "bookmarks", "sprite_image"):
        p.same(route)
        p.same(route, name="x")
        p.same(route, run="")
        p.same(route, run="", name="x")
        p.same(route, run="zz", name="x")
        p.same(route, run="it's \"ü\"", name="x")
        if route != "info":
            p.same(route, run=".")
            p.same(route, run=".", name="zz")
            if route != "tensor":
                p.same(route, run=".", name="")
    for rows in ("0", "-1", "x", "1.5", " 7 ", "+2", "99999999999999999999999"):
        p.same("tensor", run=".", name=name, num_rows=rows)
        p.same("metadata", run=".", name=name, num_rows=rows)
    p.same("tensor", run=".", name="save_counter/.ATTRIBUTES/VARIABLE_VALUE")
    for name in ("_CHECKPOINTABLE_OBJECT_GRAPH", ""):  # TensorBoard falls over these
        assert p.ours.ask(ROUTE + "tensor", {"run": ".", "name": name}).status == 400


def test_torch_embeddings(pair):
    p = pair(FIXTURES / "torch_writer")
    assert p.everything() == ["run"] and p.enabled()
    p = pair(FIXTURES / "torch_writer/run")
    assert p.everything() == ["."] and p.enabled()
    p.same("metadata", run=".", name="zz")


@pytest.mark.parametrize("name", ["tf/keras/logs", "tf/v1", "tf/v2"])
def test_logs_without_a_config(pair, name):
    p = pair(FIXTURES / name)
    runs = p.everything()
    assert p.enabled() == bool(runs)


def config_of(folder, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "projector_config.pbtxt").write_text(text)


@pytest.fixture
def logs(tmp_path):
    """A directory with a run for every way of having embeddings."""
    root = tmp_path / "logs"
    random = np.random.default_rng(5)
    for name in ("tsv", "raw", "special", "assets", "outside", "below/child", "plain", "odd"):
        with tf.summary.create_file_writer(str(root / name)).as_default():
            tf.summary.scalar("x", 1.0, step=0)
    # text: no name, no shape, blank lines, odd numbers
    rows = ["1\t2.5\t-3e-4", "", "nan\tinf\t-Infinity", " 4 \t+5\t.5", "0.1\t1e40\t1e-50\r"]
    (root / "tsv/deep").mkdir()
    (root / "tsv/deep/t.tsv").write_text("\n".join(rows) + "\n")
    (root / "tsv/m.tsv").write_text("name\tcolour\na\tred\nb\tblue\nü\t\n")
    (root / "tsv/one.tsv").write_text("a\nb\nc\nd")
    (root / "tsv/b.json").write_text('[{"a": 1}]')
    PIL.Image.new("P", (8, 5)).save(root / "tsv/s.gif")
    config_of(root / "tsv", f"""
      embeddings {{ tensor_path: "deep/t.tsv" metadata_path: "m.tsv" bookmarks_path: "b.json"
                   sprite {{ image_path: "s.gif" single_image_dim: [4, 5] }} }}
      embeddings {{ tensor_name: "second:0" tensor_path: "./deep/t.tsv" metadata_path: "one.tsv" tensor_shape: 9 tensor_shape: 9 }}
      embeddings {{ tensor_name: "abs" tensor_path: "{root}/tsv/deep/t.tsv" metadata_path: "{root}/tsv/m.tsv" }}
      embeddings {{ tensor_name: "gone" tensor_path: "deep/t.tsv" metadata_path: "none.tsv" bookmarks_path: "deep" sprite {{ image_path: "deep" }} }}
      model_checkpoint_dir: "somewhere" """)
    # raw numbers
    random.normal(size=(7, 3)).astype(np.float32).tofile(root / "raw/v.bytes")
    config_of(root / "raw", 'embeddings { tensor_name: "v" tensor_path: "v.bytes" tensor_shape: 7 tensor_shape: 3 }')
    # a checkpoint whose tensors share one nameless entry, with types other than float32
    tf.raw_ops.SaveV2(prefix=str(root / "special/c-1"), tensor_names=["a", "b", "c", "v/.OPTIMIZER_SLOT/o/m"],
                      shape_and_slices=["", "6 2 0,6:0,2", "", ""],
                      tensors=[tf.constant(random.normal(size=(4, 2))), tf.reshape(tf.range(12), [6, 2]),
                               tf.zeros([3]), tf.zeros([2, 2])])
    (root / "special/checkpoint").write_text(f'model_checkpoint_path: "{root}/special/c-1"')
    (root / "special/m.tsv").write_text("x\ny\n")
    config_of(root / "special", 'embeddings { metadata_path: "m.tsv" bookmarks_path: "m.tsv" }')
    # what TensorBoard's plugins keep inside a run
    inner = root / "assets/plugins/org_tensorflow_tensorboard_projector"
    config_of(inner, 'embeddings { tensor_name: "t" tensor_path: "t.tsv" metadata_path: "m.tsv" }')
    (inner / "t.tsv").write_text("1\t2\n3\t4\n")
    (inner / "m.tsv").write_text("p\nq\n")
    # paths that lead outside
    (tmp_path / "secret.tsv").write_text("1\t2\n")
    (root / "outside/link.tsv").symlink_to("../../secret.tsv")
    config_of(root / "outside", f"""
      embeddings {{ tensor_name: "dots" tensor_path: "../../secret.tsv" metadata_path: "../../secret.tsv" bookmarks_path: "../../secret.tsv" sprite {{ image_path: "../../secret.tsv" }} }}
      embeddings {{ tensor_name: "absolute" tensor_path: "{tmp_path}/secret.tsv" metadata_path: "{tmp_path}/secret.tsv" bookmarks_path: "/etc/passwd" sprite {{ image_path: "/etc/passwd" }} }}
      embeddings {{ tensor_name: "link" tensor_path: "link.tsv" metadata_path: "link.tsv" bookmarks_path: "link.tsv" sprite {{ image_path: "link.tsv" }} }}
      embeddings {{ tensor_name: "home" tensor_path: "~/x" metadata_path: "~/x" bookmarks_path: "~root/x" }} """)
    # a checkpoint in the directory above
    tf.raw_ops.SaveV2(prefix=str(root / "below/p-2"), tensor_names=["w"], shape_and_slices=[""], tensors=[tf.ones([5, 4])])
    (root / "below/checkpoint").write_text('model_checkpoint_path: "p-2"')
    # names beyond ASCII
    config_of(root / "odd", 'embeddings { tensor_name: "名 \\"x\\"" tensor_path: "t.tsv" metadata_path: "t.tsv" }')
    (root / "odd/t.tsv").write_text("1\n2\n")
    return root


def test_every_way_of_having_embeddings(pair, logs):
    p = pair(logs)
    assert sorted(p.everything()) == ["assets", "below/child", "odd", "outside", "raw", "special", "tsv"]
    assert p.enabled()
    assert p.info("below/child")["modelCheckpointPath"] == f"{logs}/below/child/../p-2"
    p.same("tensor", run="special", name="c")
    p.same("tensor", run="special", name="v/.OPTIMIZER_SLOT/o/m")


def test_what_tensorboard_falls_over(pair, logs):
    """Ours only: a config that is none costs its own run, a table that is none its own tensor."""
    config_of(logs / "plain", "embeddings { what: 1 }")
    (logs / "raw/v.bytes").write_bytes(b"\xff" * 10)
    (logs / "tsv/deep/t.tsv").write_text("1\t2\n3\n")
    trio = Trio([f"--logdir={logs}"], fast=False)
    try:
        ours = trio.peers["seaboard"]
        runs = ours.json(ROUTE + "runs")
        assert "plain" not in runs and "tsv" in runs
        answer = ours.ask(ROUTE + "tensor", {"run": "tsv", "name": "t.tsv"})
        assert (answer.status, answer.body) == (400, b"line 2: 1 columns, and the first has 2")
        answer = ours.ask(ROUTE + "tensor", {"run": "raw", "name": "v"})
        assert (answer.status, answer.body) == (400, b"10 bytes are not 7 x 3 numbers")
        assert ours.ask(ROUTE + "index.js").status == 404
        for route in ("tensor", "metadata", "bookmarks", "sprite_image"):
            assert ours.ask(ROUTE + route, {"run": "outside", "name": "link"}).status == 400
    finally:
        trio.close()
